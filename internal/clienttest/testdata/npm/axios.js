// Asks once for the address given, and again when the answer says so.
import axios from "axios";
import axiosRetry from "axios-retry";

axiosRetry(axios, { retries: 3 });
const answer = await axios.get(process.argv[2]);
console.log(answer.status);
