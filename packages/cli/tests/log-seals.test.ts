import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { expect, onTestFinished, test } from 'vitest';
import { actlog } from './command-line.ts';

/** Records a sealed session, and returns its export with receipts, a line for each record, and the key of the log. */
async function exportOfSealedSession(close: (recorder: Recorder) => Promise<unknown>) {
  const server = await startServer();
  onTestFinished(() => server.close());
  const cwd = mkdtempSync(join(tmpdir(), 'actlog-seals-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const connection = { apiKey: server.apiKey, baseURL: server.url };
  const recorder = new Recorder({ ...connection, agentId: 'billing', spool: false, seals: true });
  onTestFinished(async () => {
    await recorder.close();
  });
  for (const order of [1, 2, 3]) {
    await recorder.toolCall({ toolName: 'refund', arguments: { order }, sessionId: 'order' }, () => 'done');
  }
  await close(recorder);
  const env = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: server.apiKey };
  const feed = async () => (await actlog(['feed', '--receipts'], { env })).stdout.trimEnd().split('\n');
  await expect.poll(async () => (await feed()).join().includes('session_seal')).toBe(true);
  const key = (await (await fetch(`${server.url}/log/default/key`)).text()).trim();
  const verify = async (lines: readonly string[]) => {
    writeFileSync(join(cwd, 'export.jsonl'), `${lines.join('\n')}\n`);
    return actlog(['log', 'verify', 'export.jsonl', '--key', key, '--seals'], { cwd });
  };
  return { lines: await feed(), verify };
}

test('proves that every sealed event is in the record', async () => {
  const { lines, verify } = await exportOfSealedSession((recorder) => recorder.close());
  const { stdout, exitCode } = await verify(lines);
  expect(stdout).toContain('3 events are sealed and in the record, 0 have no seal.');
  expect(stdout).toMatch(/Proven\.\n$/);
  expect(exitCode).toBe(0);
});

test('names an event that left the agent and is not in the record', async () => {
  const { lines, verify } = await exportOfSealedSession((recorder) => recorder.close());
  const missing = lines.filter((line) => line.includes('"refund"'))[1] as string;
  const { id } = JSON.parse(missing) as { id: string };
  const { stdout, exitCode } = await verify(lines.filter((line) => line !== missing));
  expect(stdout).toMatch(new RegExp(`event-missing: Session order: .*event 2, ${id}, is not in the record`));
  expect(stdout).toContain('NOT proven: 1 problem was found.');
  expect(exitCode).toBe(1);
});

test('says that a recorder was not closed, which is no gap', async () => {
  const { lines, verify } = await exportOfSealedSession((recorder) => recorder.flush());
  const { stdout, exitCode } = await verify(lines);
  expect(stdout).toContain('not-closed: Session order: ');
  expect(stdout).toMatch(/Proven\.\n$/);
  expect(exitCode).toBe(0);
});
