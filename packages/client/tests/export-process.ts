// Exports sessions, and reports when five are in the file. Its test ends the process there.
import { exportSessions } from '@actlog/client/scripts';
import { testClient } from './test-client.ts';

const [origin = '', path = ''] = process.argv.slice(2);
const { client } = testClient(origin);
await exportSessions(client, path, {
  concurrency: 2,
  onProgress: ({ sessions }) => {
    if (sessions === 5) process.send?.('five sessions');
  },
});
