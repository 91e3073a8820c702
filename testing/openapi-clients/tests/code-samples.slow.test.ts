import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Actlog } from '@actlog/client';
import { startServer } from '@actlog/server';
import { expect, onTestFinished, test, vi } from 'vitest';

interface Operation {
  readonly operationId: string;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

/** Order in which the examples' records exist when they are needed. */
const order = [
  ...['agents.create', 'agents.list', 'agents.get', 'agents.update'],
  ...['policies.create', 'policies.list', 'policies.get', 'events.create', 'agents.sessions'],
  ...['sessions.list', 'sessions.get', 'sessions.risk', 'sessions.export'],
  ...['policies.check', 'guardian.pendingActions.list', 'guardian.pendingActions.decide'],
  ...['policies.update', 'policies.archive', 'notificationChannels.create', 'notificationChannels.list'],
];

test('each code sample of the document runs, and names actlog first', async () => {
  const server = await startServer({ port: 0 });
  onTestFinished(() => server.close());
  const folder = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(folder, { recursive: true });
  const samples = mkdtempSync(join(folder, 'samples-'));
  onTestFinished(() => rmSync(samples, { recursive: true }));
  vi.stubEnv('ACTLOG_BASE_URL', server.url);
  vi.stubEnv('ACTLOG_API_KEY', server.apiKey);
  onTestFinished(() => void vi.unstubAllEnvs());
  const log = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  const response = await fetch(`${server.url}/openapi.json`);
  const document = (await response.json()) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual([...order].sort());
  const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  for (const name of order) {
    const [sample, other] =
      operations.find(({ operationId }) => operationId === name)?.['x-codeSamples'] ?? [];
    expect([sample?.label, other?.label]).toEqual(['@actlog/client', 'curl']);
    let source = sample?.source ?? '';
    // The service makes these ids.
    const [policy] = await client.policies.list().toArray({ limit: 1 });
    const [action] = await client.guardian.pendingActions.list().toArray({ limit: 1 });
    source = source.replace(/pol_\w+/, policy?.id ?? '').replace(/pac_\w+/, action?.id ?? '');
    const file = join(samples, `${name}.ts`);
    writeFileSync(file, source);
    log.mockClear();
    await import(pathToFileURL(file).href);
    expect(log.mock.calls.length, name).toBeGreaterThan(0);
  }
});
