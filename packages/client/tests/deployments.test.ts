import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Actlog,
  AuthenticationError,
  type ClientOptions,
  type IncomingResponse,
  NotFoundError,
  ValidationError,
} from '@actlog/client';
import { endpointNames, endpoints } from '@actlog/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calls } from './deployments/calls.ts';
import { type Deployment, deployments } from './deployments/deployment.ts';
import { eventually, holds, newEvent, recorded } from './deployments/trial.ts';
import { rejection, testClient, transports } from './test-client.ts';
import { TestClock } from './test-clock.ts';

describe.each(deployments)('against %s', (_deployment, start) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await start();
  });
  afterAll(() => deployment.close());

  /** Responses received, of every attempt. */
  const responses: IncomingResponse[] = [];

  function client(options: ClientOptions = {}): Actlog {
    responses.length = 0;
    // The service may compute `Retry-After` from its own clock.
    const clock = Object.assign(new TestClock(), { wallMs: Date.now() });
    const hooks = { afterResponse: (response: IncomingResponse) => void responses.push(response) };
    return testClient('', { ...deployment.options, clock, hooks, ...options }).client;
  }

  describe.each(transports)('over %s', (_transport, options) => {
    it.each(endpointNames)('supports %s', async (name) => {
      await calls[name]({ client: client(options), dialect: deployment.dialect });
      const { method, path } = endpoints[name];
      const pattern = new RegExp(`${path.replace('.', '\\.').replace(':id', '[^/]+')}$`);
      const own = responses.filter((response) => response.method === method && pattern.test(response.path));
      expect(own.map(({ status }) => status)).toContainEqual(expect.toSatisfy(isSuccess));
    });

    it('lists only the events of a session', async () => {
      const trial = { client: client(options), dialect: deployment.dialect };
      const { sessionId, eventId } = await recorded(trial);
      const events = await eventually(() => trial.client.sessions.events(sessionId).toArray());
      expect(events.map((event) => holds(event, eventId))).toEqual([true]);
    });

    it('exports a session to a file as in memory', async () => {
      const trial = { client: client(options), dialect: deployment.dialect };
      const { sessionId, eventId } = await recorded(trial);
      await eventually(() => trial.client.sessions.export(sessionId));
      const folder = await mkdtemp(join(tmpdir(), 'actlog-export-'));
      try {
        const path = join(folder, 'session.json');
        const { bytes } = await trial.client.sessions.exportToFile(sessionId, path);
        const text = await readFile(path, 'utf8');
        expect(Buffer.byteLength(text)).toBe(bytes);
        expect(holds(JSON.parse(text), eventId)).toBe(true);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('distinguishes errors by class', async () => {
      const stranger = client({ ...options, apiKey: 'al_test_nobody' });
      expect(await rejection(stranger.agents.list())).toBeInstanceOf(AuthenticationError);
      const known = client(options);
      expect(await rejection(known.policies.get(randomUUID()))).toBeInstanceOf(NotFoundError);
      const invalid = known.events.create({ ...newEvent(), payload: 'none' as never });
      const error = await rejection(invalid);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ code: 'VALIDATION_ERROR' });
    });
  });
});

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
