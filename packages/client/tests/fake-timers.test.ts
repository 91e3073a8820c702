import { mock } from 'node:test';
import { Actlog } from '@actlog/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { json, ScriptedServer } from './scripted-server.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
});

const fakes = {
  Vitest: { fake: () => void vi.useFakeTimers(), real: () => void vi.useRealTimers() },
  'node:test': { fake: () => mock.timers.enable(), real: () => mock.timers.reset() },
};

for (const [name, { fake, real }] of Object.entries(fakes)) {
  test(`requests succeed before, under and after the fake timers of ${name}`, async () => {
    server.script(json(200, { items: [], nextCursor: null }));
    const client = new Actlog({ apiKey: 'al_test_fake', baseURL: server.origin });
    const ask = async (times: number) => {
      for (let time = 0; time < times; time += 1) await client.sessions.list();
    };
    await ask(2);
    for (const _ of ['a test', 'the next test']) {
      fake();
      await ask(3);
      real();
      await ask(2);
    }
    // With fake timers, no request waits for another's connection: only a server that closes it would end that wait.
    const used = [2, 3, 2, 3, 2].flatMap((times, part) =>
      Array(times).fill(part % 2 ? 'close' : 'keep-alive'),
    );
    expect(server.requests.map(({ headers }) => headers.connection)).toEqual(used);
  });
}
