import type { Endpoint, EndpointName } from './endpoints.ts';
import { examples } from './openapi-examples.ts';
import type { WebhookEventType } from './schemas/webhook-event.ts';

/** Summary and description of an operation. */
export interface OperationText {
  /** Short summary. */
  readonly summary: string;
  /** Facts that a caller must know, in at most two sentences. */
  readonly description: string;
}

/** Descriptions of each endpoint, separate from the endpoint table because a client does not need them. */
export const operations: Record<EndpointName, OperationText> = {
  'events.create': {
    summary: 'Ingest an event',
    description:
      'A 202 means that the event is stored permanently, even if the response contains warnings. Sending the same `eventId` again is safe: the event counts once, and the response has the first `receivedAt`.',
  },
  'sessions.list': {
    summary: 'List sessions',
    description:
      'Newest first, or by `sort`. A session is created by its first event and in no other way. One request reads a bounded number of sessions, so with filters that few sessions pass, a page may have fewer sessions than `limit`, or none, and still a `nextCursor`.',
  },
  'sessions.get': {
    summary: 'Get session detail, including its events',
    description:
      'The events are paginated, oldest first; `limit` and `cursor` apply to them. To read all events at once, export the session.',
  },
  'sessions.risk': {
    summary: 'Compute the risk score of the session',
    description:
      'The score covers every event received so far, over the ten dimensions of the OWASP Top 10 for Agentic Applications 2026. Use it to decide which sessions to review first; it is not the probability of an attack.',
  },
  'sessions.export': {
    summary: 'Export the session as JSON',
    description:
      'Streams one document with the session, its risk and all its events; its size is not limited. A document that ends before `contentSha256` is incomplete.',
  },
  'agents.create': {
    summary: 'Register an agent',
    description:
      'An unregistered agent that has sent events is registered under its `id` and keeps its history. A registered agent returns `ALREADY_EXISTS`: change it with PATCH.',
  },
  'agents.list': {
    summary: 'List agents',
    description: 'Newest first, by `createdAt`. The list includes unregistered agents that have sent events.',
  },
  'agents.get': {
    summary: 'Get an agent',
    description: 'Unregistered agents that have sent events are returned too, with `registered: false`.',
  },
  'agents.update': {
    summary: 'Update an agent',
    description:
      'A JSON Merge Patch (RFC 7396): omitted fields stay unchanged, and null removes a value. Revoking an agent immediately denies every action that is checked for it; its events are still stored.',
  },
  'agents.sessions': {
    summary: 'List sessions of an agent',
    description:
      'Every session in which the agent acted, even if another agent opened it. Newest first, by `startedAt`.',
  },
  'policies.create': {
    summary: 'Create a policy',
    description:
      'The policy applies from the next check on. Try it first with `mode: log_only`, which is reported but does not affect the decision. A policy that exceeds the evaluation budget of the tenant is rejected with 429 and the code `quota_exceeded`.',
  },
  'policies.list': {
    summary: 'List policies',
    description:
      'Newest first, by `createdAt`. Archived policies are included unless `status` excludes them.',
  },
  'policies.get': {
    summary: 'Get a policy',
    description: 'Archived policies are returned too.',
  },
  'policies.update': {
    summary: 'Update a policy',
    description:
      'A JSON Merge Patch (RFC 7396): omitted fields stay unchanged, and null removes a value. Actions that are already held stay pending.',
  },
  'policies.archive': {
    summary: 'Archive a policy',
    description:
      'Permanent: an archived policy never matches again and cannot be changed, but can still be read and listed. Archiving it again returns the same response.',
  },
  'policies.check': {
    summary: 'Check an action against policies',
    description:
      '`deny` takes precedence over `require_approval`, which takes precedence over `allow`; if no policy matches, the action is allowed. With an `actionId`, repeating the check returns the current decision, so a caller can poll for an approval; a different action under the same `actionId` returns `ACTION_MISMATCH`.',
  },
  'guardian.pendingActions.list': {
    summary: 'List pending actions',
    description: 'Newest first, by `createdAt`. Without `status`, only actions that are still pending.',
  },
  'guardian.pendingActions.decide': {
    summary: 'Decide a pending action',
    description:
      'Final: the first decision wins, and repeating it returns the first response. The decision applies only to this action: its tool, its `argumentsHash` and its session.',
  },
  'notificationChannels.create': {
    summary: 'Create a webhook',
    description:
      'Only this response contains the signing secret. Addresses outside the public network are rejected unless the service allows them.',
  },
  'notificationChannels.list': {
    summary: 'List webhooks',
    description: 'Newest first, by `createdAt`, without their secrets.',
  },
};

/** Descriptions of each webhook delivery. */
export const deliveries: Record<WebhookEventType, OperationText> = {
  'session.risk_raised': {
    summary: 'The risk level of a session rose',
    description:
      'Sent when the level rises, not when the score rises within a level. A service may leave out levels that a webhook is not interested in.',
  },
  'policy.matched': {
    summary: 'Policies matched a checked action',
    description: 'Sent once per check, with all policies that apply, including those in `log_only`.',
  },
  'guardian.action_pending': {
    summary: 'An action is waiting for approval',
    description: 'Decide it before `expiresAt`.',
  },
  'guardian.action_decided': {
    summary: 'A held action was decided or expired',
    description: 'See `status` for the outcome.',
  },
};

/** A program that calls an operation, for the extension `x-codeSamples`. */
interface CodeSample {
  /** Language, as documentation tools name it. */
  readonly lang: string;
  /** Name of the library or program. */
  readonly label: string;
  readonly source: string;
}

/** Returns programs that call an endpoint with its example: with actlog's client, and with curl. */
export function codeSamples(name: EndpointName, endpoint: Endpoint): CodeSample[] {
  return [
    { lang: 'TypeScript', label: '@actlog/client', source: clientSource(name, endpoint) },
    { lang: 'Shell', label: 'curl', source: curlSource(name, endpoint) },
  ];
}

/** Name of one item of each list. */
const itemNames: { readonly [Name in EndpointName]?: string } = {
  'sessions.list': 'session',
  'agents.list': 'agent',
  'agents.sessions': 'session',
  'policies.list': 'policy',
  'guardian.pendingActions.list': 'action',
  'notificationChannels.list': 'channel',
};

/** Returns the id in an endpoint's example, for paths that have one. */
function exampleId(name: EndpointName, { path }: Endpoint): string | undefined {
  if (!path.includes(':id')) return undefined;
  if (name === 'agents.sessions') return examples['agents.get'].response.id;
  if (name.startsWith('sessions.')) return examples['sessions.get'].response.id;
  return (examples[name].response as { readonly id: string }).id;
}

function clientSource(name: EndpointName, endpoint: Endpoint): string {
  const id = exampleId(name, endpoint);
  const { body } = examples[name];
  const args = [...(id === undefined ? [] : [literal(id)]), ...(body === undefined ? [] : [literal(body)])];
  const call = `client.${name}(${args.join(', ')})`;
  const item = itemNames[name];
  return [
    "import { Actlog } from '@actlog/client';",
    '',
    'const client = new Actlog(); // reads ACTLOG_BASE_URL and ACTLOG_API_KEY',
    ...(item
      ? [`for await (const ${item} of ${call}) {`, `  console.log(${item}.id);`, '}']
      : [`console.log(await ${call});`]),
    '',
  ].join('\n');
}

function curlSource(name: EndpointName, endpoint: Endpoint): string {
  const path = endpoint.path.replace(':id', encodeURIComponent(exampleId(name, endpoint) ?? ''));
  const { body } = examples[name];
  const json = body && JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `curl${endpoint.method === 'GET' ? '' : ` -X ${endpoint.method}`} "$ACTLOG_BASE_URL${path}"`,
    '-H "Authorization: Bearer $ACTLOG_API_KEY"',
    ...(json ? ["-H 'Content-Type: application/json'", `-d '${json}'`] : []),
  ].join(' \\\n  ');
}

/** Returns a JSON value as an expression of JavaScript. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(', ')}]`;
  const inner = `${indent}  `;
  const lines = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) => `${inner}${/^\w+$/.test(key) ? key : literal(key)}: ${literal(field, inner)},\n`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`;
}
