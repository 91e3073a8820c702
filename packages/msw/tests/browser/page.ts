import { Actlog } from '@actlog/client';
import { setupWorker } from 'msw/browser';
import { actlogMock } from '../../src/index.ts';

async function outcome(): Promise<unknown> {
  const mock = actlogMock({ policies: [{ name: 'p', effect: 'deny', match: { tools: ['delete_*'] } }] });
  const worker = setupWorker(...mock.handlers);
  await worker.start({ quiet: true, onUnhandledFrame: 'bypass' });
  const client = new Actlog({ ...mock.options, dangerouslyExposeApiKeyInBrowser: true });
  worker.use(mock.rateLimited({ times: 1, retryAfter: 0, endpoint: 'events.create' }));
  const payload = { toolName: 'search', argumentsHash: 'sha256:aa', responseStatus: 200 };
  await client.events.create({ agentId: 'a', sessionId: 's', category: 'tool_api', payload });
  const { eventCount } = await client.sessions.export('s'); // the client verifies its hash
  const { dimensions } = await client.sessions.risk('s');
  const action = { toolName: 'delete_user', argumentsHash: 'sha256:bb' };
  const { decision } = await client.policies.check({ agentId: 'a', action });
  return {
    usesFetch: client.fetch !== undefined,
    statuses: mock.requests('events.create').map(({ status }) => status),
    tools: mock.events().map((event) => event.payload.toolName),
    eventCount,
    dimensions: dimensions?.length,
    decision,
  };
}

// The test that opened the page waits for this.
Object.assign(globalThis, { outcome: await outcome().catch((error: Error) => ({ error: error.stack })) });
