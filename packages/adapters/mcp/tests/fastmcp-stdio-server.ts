// A server of fastmcp in a process of its own, with the tools of the suite. The recorder is set up by the environment.
import { sharedRecorder } from '@actlog/recorder';
import { actlog } from '../src/index.ts';
import { addTools, newFastMcp } from './fastmcp-server.ts';

process.stdin.once('end', async () => {
  await sharedRecorder().close();
  process.exit();
});
const server = actlog(newFastMcp());
addTools(server);
await server.start({ transportType: 'stdio' });
