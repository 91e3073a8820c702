// A server in a process of its own, with the tools of the suite: `node stdio-server.ts v1|v2`. The recorder is set up
// by the environment, as a user's would be.
import { suiteTools } from '@actlog/adapter-suite';
import { sharedRecorder } from '@actlog/recorder';
import { StdioServerTransport as V1Transport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StdioServerTransport as V2Transport } from '@modelcontextprotocol/server/stdio';
import { actlog } from '../src/index.ts';
import * as v1 from './sdk-v1.ts';
import * as v2 from './sdk-v2.ts';

const [generation] = process.argv.slice(2);
process.stdin.once('end', async () => {
  await sharedRecorder().close();
  process.exit();
});
if (generation === 'v1') {
  const server = actlog(v1.emptyServer());
  v1.register(server, suiteTools().all);
  await server.connect(new V1Transport());
} else {
  const server = actlog(v2.emptyServer());
  v2.register(server, suiteTools().all);
  await server.connect(new V2Transport());
}
