import { startServer } from '@actlog/server';
import { expect, onTestFinished, test } from 'vitest';
import { actlog } from '../command-line.ts';
import { recordInEndedProcess } from '../ended-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { Terminal } from '../terminal.ts';

/** Starts a server and leaves events of an ended process. */
async function leaveEvents(count: number) {
  const server = await startServer();
  onTestFinished(() => server.close());
  const spoolDir = temporaryFolder();
  const apiKey = server.agentKey ?? '';
  recordInEndedProcess({ baseURL: server.url, apiKey, spoolDir, count });
  const env = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: apiKey, ACTLOG_SPOOL_DIR: spoolDir };
  return { server, env };
}

test('shows the progress of a delivery in a terminal', async () => {
  const { env } = await leaveEvents(200);
  const terminal = Terminal.actlog(['spool', 'flush'], { env });
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toContain('Delivered 200 of 200 events');
  expect(terminal.text).toContain('Delivered 200 events.');
});

test('keeps what is not delivered when the user interrupts it', async () => {
  const { server, env } = await leaveEvents(20);
  await server.close();
  const terminal = Terminal.actlog(['spool', 'flush', '--timeout', '1h'], { env });
  await terminal.shows('Delivered 0 of 20 events');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
  expect(terminal.text).toContain('Delivered 0 of 20 events; the others stay.');
  const { stdout } = await actlog(['spool', 'status', '--json'], { env });
  expect(JSON.parse(stdout).folders).toMatchObject([{ waiting: 20 }]);
});
