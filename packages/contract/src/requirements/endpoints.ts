import { endpointNames, endpoints as table } from '@actlog/protocol';
import { inSection, type Row } from '../requirement.ts';

/** Descriptions of the endpoints, and the statements of other sections that say the same. */
const endpointRows: Readonly<Record<(typeof endpointNames)[number], readonly [string, ...string[]]>> = {
  'events.create': ['accepts an event', 'POST /v1/events: request body'],
  'sessions.list': [
    'lists the sessions that events were sent to',
    'What the service does: sessions are listed',
  ],
  'sessions.get': [
    'returns the session and its events',
    'What the service does: sessions are read',
    'Other resources: session',
  ],
  'sessions.risk': [
    'returns the risk of a session, without a request body',
    'GET /v1/sessions/:id/risk: no request body',
    'Other resources: risk of a session',
  ],
  'sessions.export': [
    'returns one JSON document with the session and its events',
    'What the service does: sessions are exported',
    'Other resources: export of a session',
  ],
  'agents.create': ['registers an agent', 'What the service does: agents', 'Other resources: agent'],
  'agents.list': ['lists the agents that were registered', 'What the service does: agents'],
  'agents.get': ['returns the agent', 'What the service does: agents'],
  'agents.update': [
    'changes the agent, and the change is visible when read',
    'What the service does: agents',
  ],
  'agents.sessions': ['lists the sessions of the agent, and of no other agent'],
  'policies.create': ['creates a policy', 'What the service does: policies', 'Other resources: policy'],
  'policies.list': ['lists the policies that were created', 'What the service does: policies'],
  'policies.get': ['returns the policy', 'What the service does: policies'],
  'policies.update': [
    'changes the policy, and the change is visible when read',
    'What the service does: policies',
  ],
  'policies.archive': [
    'archives the policy, which then has no effect',
    'What the service does: policies',
    'States and transitions: DELETE archives',
  ],
  'policies.check': [
    'checks an action against policies, and returns the result',
    'What the service does: checks',
  ],
  'guardian.pendingActions.list': [
    'lists held actions',
    'What the service does: guardian',
    'Other resources: pending action',
  ],
  'guardian.pendingActions.decide': [
    'decides a held action, and no other',
    'What the service does: guardian',
  ],
  'notificationChannels.create': [
    'creates a webhook',
    'What the service does: channels',
    'Other resources: notification channel',
  ],
  'notificationChannels.list': ['lists the webhooks that were created', 'What the service does: channels'],
};

const rows: Row[] = endpointNames.map((name, index) => {
  const { method, path } = table[name];
  const [description, ...sources] = endpointRows[name];
  return [
    endpointRequirement(index),
    'MUST',
    [`${method} ${path}`, ...sources],
    `\`${method} ${path}\` ${description}.`,
  ];
});

function endpointRequirement(index: number): string {
  return `END-${String(index + 1).padStart(2, '0')}`;
}

/** Ids of the requirements about each endpoint. */
export const requirementOfEndpoint = Object.fromEntries(
  endpointNames.map((name, index) => [name, endpointRequirement(index)]),
) as Readonly<Record<(typeof endpointNames)[number], string>>;

/** The 20 endpoints, and requirements for all of them. */
export const endpoints = inSection('Endpoints', [
  ...rows,
  [
    'END-21',
    'MUST',
    [
      'paths are relative to the base address',
      'What the service does: base address',
      'What the service does: hosted and self-hosted',
    ],
    'All paths are relative to the base URL of the deployment.',
  ],
  [
    'END-22',
    'MUST',
    'bodies are JSON',
    'Every response with a body is JSON and has `Content-Type: application/json`.',
  ],
  ['END-24', 'MUST', 'bodies are JSON', 'A body that is not JSON is rejected with the error envelope.'],
  ['END-23', 'OPEN', ['Remaining detail: bodies'], 'Shapes of all other request and response bodies.'],
]);
