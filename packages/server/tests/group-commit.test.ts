import { expect, test } from 'vitest';
import { GroupCommit } from '../src/ingest/group-commit.ts';
import { Metrics } from '../src/observability/metrics.ts';
import type { EventGroup, NewEvent, RecordedEvent, RecordedGroups } from '../src/storage/event-recording.ts';
import { activityEvent } from './test-server.ts';

const mebibyte = 1024 * 1024;

/** Creates a group commit whose commits a test completes by hand. */
function groupCommit(gatherMs: number) {
  const sizes: number[] = [];
  const ends: (() => void)[] = [];
  let started = Promise.withResolvers<void>();
  const ingest: GroupCommit = new GroupCommit({
    maxQueued: 1000,
    gatherMs,
    metrics: new Metrics(() => ingest.queued),
    scoring: { after() {} },
    storage: { record },
  });
  async function record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    sizes.push(groups.reduce((sum, { events }) => sum + events.length, 0));
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    started.resolve();
    started = Promise.withResolvers();
    await ended;
    const outcomes = groups.map(({ events }) =>
      events.map(({ receivedMs }) => ({ receivedMs, warnings: [], isNew: true })),
    );
    return { outcomes, hasQueuedMessages: false, unscored: 0, reached: {} };
  }
  const send = (memoryBytes: number): Promise<RecordedEvent> => {
    const event: NewEvent = { event: activityEvent(), sourceMs: 0, receivedMs: 0, protoKeysRemoved: false };
    return ingest.record(1, event, memoryBytes);
  };
  return { sizes, send, ingest, end: () => ends.shift()?.(), nextBegins: () => started.promise };
}

test('resolves half of many callers while the other half is being written', async () => {
  const { sizes, send, end, nextBegins, ingest } = groupCommit(0);
  const first = nextBegins();
  let resolved = 0;
  const callers = Array.from({ length: 100 }, () => send(1).then(() => (resolved += 1)));
  await first;
  expect([sizes, resolved]).toEqual([[50], 0]);
  const second = nextBegins();
  end();
  await second;
  await Promise.all(callers.slice(0, 50));
  expect([sizes, resolved]).toEqual([[50, 50], 50]);
  // Resolved callers send again.
  for (let count = 0; count < 50; count += 1) callers.push(send(1).then(() => (resolved += 1)));
  const third = nextBegins();
  end();
  await third;
  expect(sizes).toEqual([50, 50, 50]);
  end();
  await Promise.all(callers);
  await ingest.drain();
  expect([resolved, ingest.queued]).toEqual([150, 0]);
});

test.each([
  ['few callers', 20, 0],
  ['callers of a database where a commit costs about the same for all', 100, 1],
])('commits events of %s together', async (_, callers, gatherMs) => {
  const { sizes, send, end, nextBegins, ingest } = groupCommit(gatherMs);
  const first = nextBegins();
  const calls = Array.from({ length: callers }, () => send(1));
  await first;
  expect(sizes).toEqual([callers]);
  end();
  await Promise.all(calls);
  await ingest.drain();
});

test('commits only a few large events together', async () => {
  const { sizes, send, end, nextBegins, ingest } = groupCommit(1);
  const first = nextBegins();
  const small = Array.from({ length: 3 }, () => send(mebibyte));
  const large = [send(97 * mebibyte), send(1)];
  await first;
  expect(sizes).toEqual([3]);
  const second = nextBegins();
  end();
  await Promise.all(small);
  await second;
  expect(sizes).toEqual([3, 1]);
  const third = nextBegins();
  end();
  await third;
  end();
  await Promise.all(large);
  await ingest.drain();
});
