// Started by ChildServer: runs a server with the options in its argument, and prints its address on the first line.
import { startServer } from '../src/index.ts';

const { url } = await startServer(JSON.parse(process.argv[2] ?? '{}'));
console.log(url);
