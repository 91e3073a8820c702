import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { json, raw, type Script, ScriptedServer } from './scripted-server.ts';
import { rejection, signalIgnoringFetch, testClient, transports } from './test-client.ts';
import { attemptLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'actlog-export-'));
});
afterEach(() => rm(folder, { recursive: true }));

const events = Array.from({ length: 500 }, (_unused, index) => ({
  eventId: `e${index}`,
  payload: { text: '"]}\\' },
}));
const eventsText = JSON.stringify(events, null, 1);
const sha256 = createHash('sha256').update(eventsText).digest('hex');

/** The document as the reference server writes it: the events first, then the summary. */
function documentText(
  changes: { eventsText?: string; eventCount?: number; contentSha256?: string | null } = {},
): string {
  const hash = changes.contentSha256 === undefined ? sha256 : changes.contentSha256;
  const end = hash === null ? '' : `,"contentSha256":"${hash}"`;
  return `{"exportVersion":"1.0","session":{"id":"s","events":[]},"risk":null, "events": ${
    changes.eventsText ?? eventsText
  } ,"eventCount":${changes.eventCount ?? 500}${end}}`;
}

const inPieces =
  (text: string, pieceBytes: number, breakAt = Infinity): Script =>
  (response) => {
    const bytes = Buffer.from(text);
    response.writeHead(200, { 'content-type': 'application/json' });
    for (let at = 0; at < Math.min(bytes.length, breakAt); at += pieceBytes) {
      response.write(bytes.subarray(at, at + pieceBytes));
    }
    if (breakAt === Infinity) response.end();
    else response.write('', () => response.socket?.resetAndDestroy());
  };

const names = () => readdir(folder);

describe.each(transports)('exports over %s', (_name, options) => {
  it('writes a file, with progress, verified against the document itself', async () => {
    server.script(inPieces(documentText(), 777));
    const path = join(folder, 'session.json');
    const progress: { bytes: number; events: number }[] = [];
    const result = await testClient(server.origin, options).client.sessions.exportToFile('s', path, {
      onProgress: (step) => progress.push(step),
    });
    const bytes = Buffer.byteLength(documentText());
    expect(result).toEqual({ path, bytes, eventCount: 500, contentSha256: sha256, verified: true });
    expect(await readFile(path, 'utf8')).toBe(documentText());
    expect(progress.at(-1)).toEqual({ bytes, events: 500 });
    expect(await names()).toEqual(['session.json']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('restarts from the first byte when the download breaks', async () => {
    server.script(inPieces(documentText(), 777, 5_000), inPieces(documentText(), 777));
    const path = join(folder, 'session.json');
    const { client } = testClient(server.origin, options);
    expect(await client.sessions.exportToFile('s', path)).toMatchObject({ verified: true });
    expect(await readFile(path, 'utf8')).toBe(documentText());
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['a download that breaks on every attempt', inPieces(documentText(), 777, 5_000), 'APIConnectionError'],
    ['a truncated document', raw(200, documentText().slice(0, -40)), 'ExportIntegrityError'],
    ['a wrong hash', raw(200, documentText({ contentSha256: '0'.repeat(64) })), 'ExportIntegrityError'],
    ['a wrong count', raw(200, documentText({ eventCount: 499 })), 'ExportIntegrityError'],
    [
      'modified events',
      raw(200, documentText({ eventsText: eventsText.replace('e7', 'e8') })),
      'ExportIntegrityError',
    ],
    ['a hash without events', json(200, { contentSha256: sha256, log: events }), 'ExportIntegrityError'],
    ['a non-object', json(200, [{ id: 's' }]), 'ExportIntegrityError'],
    ['an error response', json(404, { error: { code: 'NOT_FOUND', message: 'x' } }), 'NotFoundError'],
  ])('%s leaves no file', async (_what, script, name) => {
    server.script(script);
    const { client } = testClient(server.origin, { ...options, maxRetries: 1 });
    const error = await rejection(client.sessions.exportToFile('s', join(folder, 'session.json')));
    expect(error.name).toBe(name);
    expect(await names()).toEqual([]);
  });

  it('reports unverified when the service sends no hash', async () => {
    server.script(raw(200, documentText({ contentSha256: null })));
    const result = testClient(server.origin, options).client.sessions.exportToFile('s', join(folder, 'a'));
    expect(await result).toMatchObject({ verified: false, contentSha256: sha256 });
  });

  it('treats a null count and a null hash as missing', async () => {
    server.script(json(200, { events, eventCount: null, contentSha256: null }));
    const { client } = testClient(server.origin, options);
    const result = await client.sessions.exportToFile('s', join(folder, 'a'));
    expect(result).toMatchObject({ eventCount: 500, verified: false });
    expect(await client.sessions.export('s')).toMatchObject({ events, eventCount: null });
    server.script(json(200, { events, eventCount: 500, contentSha256: null }));
    expect(await client.sessions.export('s')).toMatchObject({ events, contentSha256: null });
  });

  it('accepts a document with another name for its events, without counting or verifying', async () => {
    const { client } = testClient(server.origin, options);
    const path = join(folder, 'a');
    for (const document of [
      { log: events, warnings: [] },
      { log: events, eventCount: 500 },
    ]) {
      server.script(json(200, document));
      const result = await client.sessions.exportToFile('s', path);
      const bytes = Buffer.byteLength(JSON.stringify(document));
      expect(result).toEqual({
        path,
        bytes,
        eventCount: undefined,
        contentSha256: undefined,
        verified: false,
      });
      expect(await client.sessions.export('s')).toEqual(document);
    }
  });

  it('writes a blob larger than maxResponseBytes, with progress', async () => {
    server.script(inPieces(documentText(), 777, 5_000), inPieces(documentText(), 777));
    const { client } = testClient(server.origin, { ...options, maxResponseBytes: 100 });
    const progress: { bytes: number; events: number }[] = [];
    const { blob, eventCount } = await client.sessions.exportToBlob('s', {
      onProgress: (step) => progress.push(step),
    });
    expect(await blob.text()).toBe(documentText());
    expect(eventCount).toBe(500);
    expect(progress.at(-1)).toEqual({ bytes: blob.size, events: 500 });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['breaks on every attempt', inPieces(documentText(), 777, 5_000), 'APIConnectionError'],
    ['is truncated', raw(200, documentText().slice(0, -40)), 'ExportIntegrityError'],
    ['has a wrong count', raw(200, documentText({ eventCount: 499 })), 'ExportIntegrityError'],
    ['is an error', json(404, { error: { code: 'NOT_FOUND', message: 'x' } }), 'NotFoundError'],
  ])('returns no blob for a download that %s', async (_what, script, name) => {
    server.script(script);
    const { client } = testClient(server.origin, { ...options, maxRetries: 1 });
    expect((await rejection(client.sessions.exportToBlob('s'))).name).toBe(name);
  });

  it('returns a small document in memory, and suggests exportToFile for a large one', async () => {
    server.script(raw(200, documentText()));
    const { client } = testClient(server.origin, { ...options, maxResponseBytes: 1_000 });
    const error = await rejection(client.sessions.export('s'));
    expect(error).toMatchObject({ name: 'ResponseShapeError' });
    expect(error.message).toContain('export to a file');
  });

  it('verifies a document in memory', async () => {
    const { client } = testClient(server.origin, options);
    server.script(raw(200, documentText()));
    expect(await client.sessions.export('s')).toMatchObject({ eventCount: 500, events });
    server.script(raw(200, documentText({ contentSha256: 'f'.repeat(64) })));
    expect(await rejection(client.sessions.export('s'))).toMatchObject({ code: 'EXPORT_INTEGRITY' });
    server.script(json(200, { events: [] }));
    expect(await client.sessions.export('s')).toEqual({ events: [] });
  });

  it('applies backpressure to a sender of many small chunks instead of buffering them', async () => {
    const pieces = 24_000;
    const piece = `${JSON.stringify({ text: 'x'.repeat(1_000) })},`;
    let sentBytes = 0;
    let mostAhead = 0;
    server.script((response) => {
      let sent = 0;
      response.write('{"events":[');
      const more = () => {
        while (sent < pieces) {
          sent += 1;
          sentBytes += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end('{}]}');
      };
      more();
    });
    const result = await testClient(server.origin, options).client.sessions.exportToFile(
      's',
      join(folder, 'a'),
      {
        onProgress: ({ bytes }) => {
          mostAhead = Math.max(mostAhead, sentBytes - bytes);
        },
      },
    );
    expect(result.eventCount).toBe(pieces + 1);
    // The buffers of the operating system hold some of it.
    expect(mostAhead).toBeLessThan(sentBytes / 2);
  });

  it('accepts every valid file name', async () => {
    server.script(raw(200, documentText()));
    const { client } = testClient(server.origin, options);
    const longest = ['s'.repeat(255), 'é'.repeat(127), '漢'.repeat(85), '😀'.repeat(63)];
    for (const name of longest) await client.sessions.exportToFile('s', join(folder, name));
    expect((await names()).sort()).toEqual(longest.sort());
  });

  it('decodes a compressed response on the way to the file', async () => {
    server.script(raw(200, gzipSync(documentText()), { 'content-encoding': 'gzip' }));
    const path = join(folder, 'session.json');
    await testClient(server.origin, options).client.sessions.exportToFile('s', path);
    expect(await readFile(path, 'utf8')).toBe(documentText());
  });

  it('rejects with the error of a failing disk, without a retry', async () => {
    server.script(raw(200, documentText()));
    const { client } = testClient(server.origin, options);
    const error = await rejection(client.sessions.exportToFile('s', join(folder, 'missing', 'session.json')));
    expect(error).toMatchObject({ code: 'ENOENT' });
    expect(server.requests).toHaveLength(1);
  });

  it('prefers the error of the service to that of a failing disk', async () => {
    await writeFile(join(folder, 'file'), '');
    server.script(json(404, { error: { code: 'NOT_FOUND', message: 'There is no such session.' } }));
    const { client } = testClient(server.origin, options);
    const error = await rejection(client.sessions.exportToFile('s', join(folder, 'file', 'session.json')));
    expect(error).toMatchObject({ name: 'NotFoundError', code: 'NOT_FOUND' });
  });

  it('rejects with the error thrown by onProgress', async () => {
    server.script(raw(200, documentText()));
    const { client } = testClient(server.origin, options);
    const onProgress = () => {
      throw 'enough';
    };
    expect(await rejection(client.sessions.exportToFile('s', join(folder, 'a'), { onProgress }))).toBe(
      'enough',
    );
    expect(await names()).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('limits the time between two chunks, not the whole download', async () => {
    const text = documentText();
    let open: ServerResponse | undefined;
    server.script((response) => {
      open = response;
      response.write(text.slice(0, 1_000));
    });
    const progress: number[] = [];
    let arrived: (() => void) | undefined;
    const { client, clock } = testClient(server.origin, { ...options, maxRetries: 0 });
    const call = rejection(
      client.sessions.exportToFile('s', join(folder, 'session.json'), {
        timeoutMs: 4 * attemptLimitMs,
        onProgress: ({ bytes }) => {
          progress.push(bytes);
          arrived?.();
        },
      }),
    );
    const reached = async (bytes: number) => {
      while (progress.at(-1) !== bytes) await new Promise<void>((resolve) => (arrived = resolve));
    };
    await reached(1_000);
    clock.pass(attemptLimitMs);
    open?.write(text.slice(1_000, 2_000));
    await reached(2_000);
    clock.expire(3 * attemptLimitMs);
    expect(clock.limits).toEqual([4 * attemptLimitMs, attemptLimitMs]); // the time left since the last chunk
    clock.expire(attemptLimitMs);
    expect(await call).toMatchObject({
      name: 'APITimeoutError',
      message: expect.stringContaining(
        `no further chunk of the response within ${4 * attemptLimitMs} ms (timeoutMs)`,
      ),
    });
    expect(await names()).toEqual([]);
  });

  it('limits the whole time of an error response', async () => {
    let open: ServerResponse | undefined;
    server.script((response) => {
      open = response;
      response.writeHead(500).write('<');
    });
    const { client, clock } = testClient(server.origin, { ...options, maxRetries: 0 });
    const call = rejection(client.sessions.exportToFile('s', join(folder, 'session.json')));
    await server.received(1);
    for (let second = 0; second < 30; second += 1) {
      clock.pass(1_000);
      open?.write(' ');
      await new Promise(setImmediate);
    }
    clock.expire(attemptLimitMs - 30_000);
    expect(await call).toMatchObject({ name: 'APITimeoutError' });
    expect(await names()).toEqual([]);
  });
});

describe('exports on a plain http page, which has no crypto.subtle', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('fail in memory, and work as a blob', async () => {
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
    server.script(raw(200, documentText()));
    const { client } = testClient(server.origin);
    const error = await rejection(client.sessions.export('s'));
    expect(error).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('exportToBlob'),
    });
    expect(await client.sessions.exportToBlob('s')).toMatchObject({ eventCount: 500 });
  });
});

describe('exports over a fetch that ignores its signal', () => {
  it('keep the data of the current attempt when the previous response arrives late', async () => {
    const open: ServerResponse[] = [];
    server.script((response) => void open.push(response));
    const path = join(folder, 'session.json');
    let begun: (() => void) | undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { client, clock } = testClient(server.origin, { fetch: signalIgnoringFetch });
    const call = client.sessions.exportToFile('s', path, { onProgress: () => begun?.() });
    await server.received(1);
    clock.expire(attemptLimitMs);
    await server.received(2);
    const [late, next] = open as [ServerResponse, ServerResponse];
    next.write(documentText().slice(0, 1_000));
    await isBegun;
    const closed = once(late, 'close');
    late.write('{"events":[]');
    await closed;
    next.end(documentText().slice(1_000));
    expect(await call).toMatchObject({ eventCount: 500, verified: true });
    expect(await readFile(path, 'utf8')).toBe(documentText());
    expect(await names()).toEqual(['session.json']);
  });
});
