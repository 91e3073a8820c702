import { endpointNames, endpoints as table } from '@actlog/protocol';
import { inSection, type Row } from '../requirement.ts';

/** What each endpoint does, and the statements of other sections that say the same. */
const endpointRows: Readonly<Record<(typeof endpointNames)[number], readonly [string, ...string[]]>> = {
  'events.create': ['takes an event', 'POST /v1/events: request body'],
  'sessions.list': [
    'lists the sessions that events were sent to',
    'What the service does: sessions are listed',
  ],
  'sessions.get': [
    'answers with the session and its events',
    'What the service does: sessions are read',
    'Other resources: session',
  ],
  'sessions.risk': [
    'answers for a session, with no request body',
    'GET /v1/sessions/:id/risk: no request body',
    'Other resources: risk of a session',
  ],
  'sessions.export': [
    'answers with one JSON document that holds the session and its events',
    'What the service does: sessions are exported',
    'Other resources: export of a session',
  ],
  'agents.create': ['registers an agent', 'What the service does: agents', 'Other resources: agent'],
  'agents.list': ['lists the agents that were registered', 'What the service does: agents'],
  'agents.get': ['answers with the agent', 'What the service does: agents'],
  'agents.update': ['changes the agent, so that the change is read back', 'What the service does: agents'],
  'agents.sessions': ['lists the sessions of the agent, and of no other agent'],
  'policies.create': ['creates a policy', 'What the service does: policies', 'Other resources: policy'],
  'policies.list': ['lists the policies that were created', 'What the service does: policies'],
  'policies.get': ['answers with the policy', 'What the service does: policies'],
  'policies.update': [
    'changes the policy, so that the change is read back',
    'What the service does: policies',
  ],
  'policies.archive': [
    'archives the policy',
    'What the service does: policies',
    'States and transitions: DELETE archives',
  ],
  'policies.check': ['checks an action against policies', 'What the service does: checks'],
  'guardian.pendingActions.list': [
    'lists the actions that are held',
    'What the service does: guardian',
    'Other resources: pending action',
  ],
  'guardian.pendingActions.decide': ['decides an action that is held', 'What the service does: guardian'],
  'notificationChannels.create': [
    'creates a webhook',
    'What the service does: channels',
    'Other resources: notification channel',
  ],
  'notificationChannels.list': ['lists the webhooks that were created', 'What the service does: channels'],
};

const rows: Row[] = endpointNames.map((name, index) => {
  const { method, path } = table[name];
  const [deed, ...alike] = endpointRows[name];
  return [
    endpointRequirement(index),
    'MUST',
    [`${method} ${path}`, ...alike],
    `\`${method} ${path}\` ${deed}.`,
  ];
});

function endpointRequirement(index: number): string {
  return `END-${String(index + 1).padStart(2, '0')}`;
}

/** The id of the requirement about one endpoint. */
export const requirementOfEndpoint = Object.fromEntries(
  endpointNames.map((name, index) => [name, endpointRequirement(index)]),
) as Readonly<Record<(typeof endpointNames)[number], string>>;

/** The 20 endpoints, and what holds for all of them. */
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
    'All paths are found below the base address of the deployment, whatever that is.',
  ],
  [
    'END-22',
    'MUST',
    'bodies are JSON',
    'Every answer with a body is JSON and says `Content-Type: application/json`.',
  ],
  [
    'END-23',
    'OPEN',
    ['Remaining detail: bodies'],
    'What the bodies of all other requests and answers look like.',
  ],
]);
