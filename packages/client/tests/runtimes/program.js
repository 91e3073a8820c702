// What every runtime runs: the client as a user would use it, against the server of the test. Gives what it saw.
import { Actlog, APIError, createEventId, NotFoundError, RateLimitError, Webhooks } from '@actlog/client';

export async function program(origin, options = {}, path = undefined) {
  const client = new Actlog({ apiKey: 'al_test_runtimes', baseURL: origin, ...options });
  const seen = { client: client.constructor.name, usesFetch: client.fetch !== undefined };

  const ack = await client.events.create({
    agentId: 'a',
    sessionId: 's',
    category: 'note',
    payload: { text: 'ü' },
  });
  seen.warnings = ack.warnings;

  seen.sessions = [];
  for await (const { id } of client.sessions.list({ limit: 2 })) seen.sessions.push(id);
  seen.taken = await client.sessions
    .list({ limit: 2 })
    .map(({ id }) => id)
    .toArray({ limit: 1 });

  const { attempts, requestId } = await client.agents.get('after 503').withResponse();
  seen.attempts = attempts;
  seen.requestId = requestId;

  const missing = await client.agents.get('missing').catch((error) => error);
  seen.notFound =
    missing instanceof NotFoundError && missing instanceof APIError && !(missing instanceof RateLimitError);
  seen.message = missing.message;
  seen.names = [missing.name, missing.constructor.name, String(missing.stack).startsWith('NotFoundError: ')];

  const stopped = await client.agents.get('silent', { timeoutMs: 50, maxRetries: 0 }).catch((error) => error);
  seen.timeout = stopped.name;
  const aborted = await client.agents
    .get('silent', { signal: AbortSignal.timeout(50) })
    .catch((error) => error);
  seen.abort = aborted.name;

  const document = await client.sessions.export('s');
  seen.exported = document.events.length;

  if (path !== undefined) seen.file = await client.sessions.exportToFile('s', path);

  const webhooks = new Webhooks();
  const body = JSON.stringify({ type: 'policy.matched', timestamp: new Date().toISOString(), data: {} });
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = await webhooks.sign(body, secret);
  seen.webhook = (await webhooks.unwrap(body, headers, secret)).type;
  seen.forged = (await webhooks.unwrap(`${body} `, headers, secret).catch((error) => error)).code;
  seen.id = createEventId().length;
  return seen;
}

/** Calls an address where nothing listens. */
export async function refusal(baseURL) {
  const client = new Actlog({ apiKey: 'al_test_runtimes', baseURL, maxRetries: 0 });
  const { name, maybeSent } = await client.agents.create({ name: 'a' }).catch((error) => error);
  return { name, maybeSent };
}
