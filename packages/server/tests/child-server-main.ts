// Started by ChildServer: a server with the options of its argument, whose address is its first line.
import { startServer } from '../src/index.ts';

const { url } = await startServer(JSON.parse(process.argv[2] ?? '{}'));
console.log(url);
