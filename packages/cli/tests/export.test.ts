import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StallingProxy } from './stalling-proxy.ts';
import { Terminal } from './terminal.ts';
import { TestService } from './test-service.ts';

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
  for (const id of ['order-1', 'order-2', 'order-3']) await service.record(id, ['get_order']);
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

it('shows progress in a terminal, and continues after Ctrl+C when it runs again', async () => {
  const file = join(folder, 'sessions.jsonl');
  // The newest are exported first.
  const proxy = await StallingProxy.start(service.server.url, /order-1\/export/);
  const env = { ...service.env, ACTLOG_BASE_URL: proxy.url };
  const exporting = ['sessions', 'export', file, '--concurrency', '1'];
  const interrupted = Terminal.actlog(exporting, { env });
  await proxy.stalled();
  await interrupted.shows(/2 sessions, \d+\.\d KB {2}order-2/);
  interrupted.type('\u0003');
  expect(await interrupted.ended()).toBe(130);
  expect(interrupted.text).toContain('Interrupted: run the same command again to continue.');

  proxy.isStalling = false;
  const again = Terminal.actlog(exporting, { env });
  expect(await again.ended()).toBe(0);
  expect(again.text).toMatch(/^sessions +3$/m);
  expect(again.text).toMatch(/^resumed +2$/m);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(3);
  proxy.close();
});
