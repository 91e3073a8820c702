import { mock } from 'node:test';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

const places = { disk: () => ({ spoolDir: temporaryFolder() }), memory: () => ({ spool: false }) };

for (const [place, options] of Object.entries(places)) {
  test(`delivers events in ${place} despite fake timers`, async () => {
    const sink = await Sink.start();
    const before = createRecorder(sink.url, options());
    recordMany(before, 1);
    // undici has one timer per process, created by the first request, which must be a real one.
    await before.flush();
    vi.useFakeTimers();
    try {
      const during = createRecorder(sink.url, options());
      recordMany(before, 3);
      recordMany(during, 3);
      expect(await before.close()).toMatchObject({ delivered: 4, pending: 0 });
      expect(await during.close()).toMatchObject({ delivered: 3, pending: 0 });
    } finally {
      vi.useRealTimers();
    }
  });

  test(`delivers events recorded in ${place} under fake timers when they are real again`, async () => {
    const sink = await Sink.start();
    vi.useFakeTimers();
    const recorder = createRecorder(sink.url, options());
    try {
      recordMany(recorder, 3);
    } finally {
      vi.useRealTimers();
    }
    expect(await recorder.close()).toMatchObject({ delivered: 3, pending: 0 });
  });
}

const fakes = {
  Vitest: { fake: () => void vi.useFakeTimers(), real: () => void vi.useRealTimers() },
  'node:test': { fake: () => mock.timers.enable(), real: () => mock.timers.reset() },
};

for (const [name, { fake, real }] of Object.entries(fakes)) {
  test(`delivers before, under and after the fake timers of ${name}`, async () => {
    const sink = await Sink.start();
    const recorder = createRecorder(sink.url);
    const deliver = async () => {
      recordMany(recorder, 50);
      return (await recorder.flush({ timeoutMs: 4_000 })).pending;
    };
    expect(await deliver()).toBe(0);
    for (const _ of ['a test', 'the next test']) {
      fake();
      try {
        expect(await deliver()).toBe(0);
        recordMany(recorder, 50);
      } finally {
        real();
      }
      expect(await deliver()).toBe(0);
    }
    expect(sink.stored).toHaveLength(350);
  });
}

for (const [name, { fake, real }] of Object.entries(fakes)) {
  test(`checks calls before, under and after the fake timers of ${name}`, async () => {
    const sink = await Sink.start(({ path }) =>
      path === '/v1/policies/check' ? { status: 200, body: { decision: 'allow' } } : undefined,
    );
    const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
    const recorder = createRecorder(sink.url, { guard });
    const call = (toolName: string) => recorder.toolCall({ toolName, arguments: {} }, () => toolName);
    expect(await call('before')).toBe('before');
    fake();
    try {
      for (const toolName of ['first', 'second', 'third']) expect(await call(toolName)).toBe(toolName);
    } finally {
      real();
    }
    expect(await call('after')).toBe('after');
  });
}

for (const [name, { fake, real }] of Object.entries(fakes)) {
  test(`recovers from a failure under the fake timers of ${name}`, async () => {
    const sink = await Sink.start(({ number }) => (number <= 3 ? { status: 503 } : undefined));
    fake();
    try {
      const recorder = createRecorder(sink.url);
      recordMany(recorder, 3);
      expect(await recorder.flush({ timeoutMs: 4_000 })).toMatchObject({ delivered: 3, pending: 0 });
    } finally {
      real();
    }
  });
}

for (const [name, { fake, real }] of Object.entries(fakes)) {
  test(`times out a held call under the fake timers of ${name}`, async () => {
    const sink = await Sink.start(({ path }) =>
      path === '/v1/policies/check' ? { status: 200, body: { decision: 'require_approval' } } : undefined,
    );
    fake();
    try {
      const guard = { mode: 'enforce', onUnavailable: 'allow', holdTimeoutMs: 300 } as const;
      const recorder = createRecorder(sink.url, { guard });
      const call = recorder.toolCall({ toolName: 'held', arguments: {} }, () => 'ran');
      await expect(call).rejects.toMatchObject({ because: 'approval-timed-out' });
    } finally {
      real();
    }
  });
}
