import type { BodyOf, SentOf } from './contract.ts';
import type { EndpointName } from './endpoints.ts';
import { schemaVersion, toolCallCategory } from './limits.ts';
import type { RiskDimension } from './schemas/risk.ts';
import type { WebhookEvent, WebhookEventType } from './schemas/webhook-event.ts';

/** Example request and response of an endpoint of the reference server. */
interface Example<Name extends EndpointName> {
  /** Request body; undefined if the endpoint takes none. */
  readonly body: BodyOf<Name>;
  /** Body of the success response. */
  readonly response: SentOf<Name>;
}

const agentId = 'billing-agent';
const sessionId = 'ticket-7';
const argumentsHash = 'sha256:6b51d431df5d7f141cbececcf79edf3dd861c3b4069f0b11661a3eefacbba918';

const policyId = 'pol_01939f7c5e0d7a41b6c2f0a9d3e48b17';
const pendingActionId = 'pac_01939f8a11c27f0e9d54b2c8a7e6f301';
const keyId = 'key_fW1dyQViCj';
const agentKeyId = 'key_Qm8sRt2LxB';

const sent = {
  eventId: '01939f8a-2f6e-7c3e-8a52-5a0b6f1d2e3c',
  agentId,
  sessionId,
  sourceTimestamp: '2026-11-21T10:02:11.482Z',
  category: toolCallCategory,
  schemaVersion,
  payload: { toolName: 'refund', argumentsHash, responseStatus: 200 },
};

const read = {
  ...sent,
  eventId: '01939f8a-2e02-7b91-b3d8-94c1a7e05f26',
  sourceTimestamp: '2026-11-21T10:02:09.107Z',
  payload: { ...sent.payload, toolName: 'read_ticket' },
};

const events = [
  { ...read, receivedAt: '2026-11-21T10:02:09.160Z' },
  { ...sent, receivedAt: '2026-11-21T10:02:11.530Z' },
];

const session = {
  id: sessionId,
  agentId,
  agentIds: [agentId],
  startedAt: read.sourceTimestamp,
  lastEventAt: sent.sourceTimestamp,
  eventCount: 2,
  errorCount: 0,
  toolNames: ['read_ticket', 'refund'],
  risk: { score: 44, level: 'low' as const },
};

const factor = {
  ruleId: 'goal.action-after-untrusted',
  title: 'Action directly after untrusted content',
  explanation: '"refund" was called directly after "read_ticket" read untrusted content.',
  weight: 0.44,
  delta: 44,
  evidence: { eventIds: [read.eventId, sent.eventId], count: 2 },
  recommendation:
    'Open the text that the agent read directly before, and check if it contains instructions. Hold such actions for approval with a policy.',
};

function unmatched(id: RiskDimension['id'], name: string, observable: boolean) {
  return { id, name, score: 0, level: 'low' as const, observable, factors: [] };
}

const risk = {
  sessionId,
  score: 44,
  level: 'low' as const,
  engineVersion: '1.5.2',
  rulesetHash: '30662281b9310a566272bad3455ad1ce7f814c1e6a1ffdffee84fbaa08c0326b',
  computedAt: '2026-11-21T10:02:20.000Z',
  eventCount: 2,
  dimensions: [
    { ...unmatched('ASI01', 'Agent Goal Hijack', true), score: 44, factors: [factor] },
    unmatched('ASI02', 'Tool Misuse and Exploitation', true),
    unmatched('ASI03', 'Identity and Privilege Abuse', true),
    unmatched('ASI04', 'Agentic Supply Chain Vulnerabilities', false),
    unmatched('ASI05', 'Unexpected Code Execution (RCE)', true),
    unmatched('ASI06', 'Memory & Context Poisoning', false),
    unmatched('ASI07', 'Insecure Inter-Agent Communication', false),
    unmatched('ASI08', 'Cascading Failures', true),
    unmatched('ASI09', 'Human-Agent Trust Exploitation', false),
    unmatched('ASI10', 'Rogue Agents', false),
  ],
  factors: [factor],
  recommendations: [
    {
      id: factor.ruleId,
      title: 'Check what was read before the action',
      text: factor.recommendation,
      dimension: 'ASI01',
    },
  ],
};

const agent = {
  id: agentId,
  name: 'Billing agent',
  description: 'Answers questions about invoices, and refunds.',
  framework: 'langchain',
  version: '1.4.2',
  owner: 'payments@example.com',
  metadata: { repository: 'https://git.example.com/billing-agent' },
  status: 'active' as const,
  registered: true,
  createdAt: '2026-11-20T09:00:00.000Z',
  updatedAt: '2026-11-20T09:00:00.000Z',
  lastSeenAt: '2026-11-21T10:02:11.530Z',
};

const rule = {
  name: 'Refunds need a person',
  effect: 'require_approval' as const,
  description: null,
  mode: 'enforce' as const,
  priority: 0,
  condition: 'has(args.amount) && double(args.amount) > 500.0',
  message: 'Refunds above 500 are decided by the payments team.',
  match: { tools: ['refund*'] },
  rate: null,
  approval: {
    timeoutSeconds: 900,
    onTimeout: 'deny' as const,
    singleUse: true,
    requiredApprovers: 2,
    notRequester: false,
    editable: [{ path: 'amount', max: 500 }],
    verifiedPrincipal: false,
  },
  schedule: null,
};

const policy = {
  id: policyId,
  ...rule,
  status: 'active' as const,
  createdAt: '2026-11-20T09:05:00.000Z',
  updatedAt: '2026-11-20T09:05:00.000Z',
  archivedAt: null,
  version: 1,
};

const origins = {
  amount: { from: 'tool' as const, as: 'text' as const, toolName: 'read_ticket', eventId: read.eventId },
};

const action = {
  toolName: 'refund',
  argumentsHash,
  arguments: { amount: 900 },
  origins,
  acceptsChanges: true,
};

const firstApproval = {
  approvedBy: 'key_Zc4hNw7PqE',
  principal: 'grace@example.com',
  comment: null,
  approvedAt: '2026-11-21T10:01:30.000Z',
  grant: null,
};

const pendingAction = {
  id: pendingActionId,
  status: 'pending' as const,
  agentId,
  sessionId,
  policyId,
  policyName: rule.name,
  action,
  reason: rule.message,
  createdAt: '2026-11-21T10:00:00.000Z',
  expiresAt: '2026-11-21T10:15:00.000Z',
  onTimeout: 'deny' as const,
  singleUse: true,
  usedAt: null,
  requestedBy: agentKeyId,
  principal: 'ada@example.com',
  subagent: null,
  parentAgentIds: [],
  identity: {
    issuer: 'https://login.example.com',
    subject: 'billing-agent',
    agentVerified: true,
    principalVerified: true,
  },
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  approvals: {
    required: 2,
    approverKeys: null,
    approverGroups: null,
    notRequester: false,
    verifiedPrincipal: false,
    given: [firstApproval],
  },
  grantId: null,
  editable: [{ path: 'amount', max: 500 }],
  changedArguments: null,
  executedHash: null,
  decision: null,
};

const decidedAction = {
  ...pendingAction,
  status: 'approved' as const,
  approvals: {
    ...pendingAction.approvals,
    given: [
      firstApproval,
      {
        approvedBy: keyId,
        principal: 'alan@example.com',
        comment: 'The customer was charged twice.',
        approvedAt: '2026-11-21T10:02:10.940Z',
        grant: null,
      },
    ],
  },
  decision: {
    decision: 'approve' as const,
    comment: 'The customer was charged twice.',
    decidedBy: keyId,
    principal: 'alan@example.com',
    decidedAt: '2026-11-21T10:02:10.940Z',
  },
};

const channel = {
  id: 'nch_01939f7d90b77e5f8c31d6a4e2b50f98',
  kind: 'webhook' as const,
  url: 'https://hooks.example.com/actlog',
  events: ['guardian.action_pending', 'session.risk_raised'],
  status: 'active' as const,
  createdAt: '2026-11-20T09:10:00.000Z',
  lastDeliveryAt: null,
  failureCount: 0,
};

function page<Item>(item: Item) {
  return { items: [item], nextCursor: null };
}

/** One example request and response for each endpoint, all about the same agent. */
export const examples: { readonly [Name in EndpointName]: Example<Name> } = {
  'events.create': {
    body: sent,
    response: { eventId: sent.eventId, receivedAt: '2026-11-21T10:02:11.530Z', warnings: [] },
  },
  'sessions.list': { body: undefined, response: page(session) },
  'sessions.get': { body: undefined, response: { ...session, events, nextCursor: null } },
  'sessions.risk': { body: undefined, response: risk },
  'sessions.export': {
    body: undefined,
    response: {
      exportVersion: '1.0',
      exportedAt: '2026-11-21T10:02:20.000Z',
      session,
      risk,
      events,
      eventCount: 2,
      contentSha256: 'c62f50e40b1588dda8e58ac20901540728b3752fac4abf2b793a970425242a6a',
    },
  },
  'agents.create': {
    body: {
      id: agentId,
      name: agent.name,
      framework: agent.framework,
      version: agent.version,
      owner: agent.owner,
      metadata: agent.metadata,
    },
    response: { ...agent, description: null, lastSeenAt: null },
  },
  'agents.list': { body: undefined, response: page(agent) },
  'agents.get': { body: undefined, response: agent },
  'agents.update': {
    body: { description: agent.description, metadata: { pager: null } },
    response: { ...agent, updatedAt: '2026-11-21T08:30:00.000Z' },
  },
  'agents.sessions': { body: undefined, response: page(session) },
  'policies.create': {
    body: {
      name: rule.name,
      effect: rule.effect,
      match: rule.match,
      condition: rule.condition,
      approval: rule.approval,
      message: rule.message,
    },
    response: policy,
  },
  'policies.list': { body: undefined, response: page(policy) },
  'policies.get': { body: undefined, response: policy },
  'policies.update': {
    body: { mode: 'log_only', approval: { timeoutSeconds: 3600 } },
    response: {
      ...policy,
      mode: 'log_only',
      approval: { ...rule.approval, timeoutSeconds: 3600 },
      updatedAt: '2026-11-21T08:30:00.000Z',
      version: 2,
    },
  },
  'policies.archive': {
    body: undefined,
    response: {
      ...policy,
      status: 'archived',
      updatedAt: '2026-11-22T16:00:00.000Z',
      archivedAt: '2026-11-22T16:00:00.000Z',
      version: 2,
    },
  },
  'policies.check': {
    body: {
      agentId,
      sessionId,
      action,
      environment: 'production',
      actionId: 'refund-4711',
      principal: pendingAction.principal,
    },
    response: {
      decision: 'require_approval',
      decidedBy: policyId,
      matched: [
        {
          policyId,
          policyName: rule.name,
          effect: 'require_approval',
          mode: 'enforce',
          why: 'the tool matches "refund*"; the condition holds',
          message: rule.message,
        },
      ],
      pendingActionId,
      comment: null,
      changedArguments: null,
      grantId: null,
      expiresAt: pendingAction.expiresAt,
    },
  },
  'guardian.pendingActions.list': { body: undefined, response: page(pendingAction) },
  'guardian.pendingActions.decide': {
    body: { decision: 'approve', comment: 'The customer was charged twice.' },
    response: decidedAction,
  },
  'notificationChannels.create': {
    body: { url: channel.url, events: ['guardian.action_pending', 'session.risk_raised'] },
    response: { ...channel, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  'notificationChannels.list': {
    body: undefined,
    response: page({ ...channel, lastDeliveryAt: pendingAction.createdAt }),
  },
};

/** One example delivery of each type. */
export const deliveryExamples: {
  readonly [Type in WebhookEventType]: Extract<WebhookEvent, { type: Type }>;
} = {
  'session.risk_raised': {
    type: 'session.risk_raised',
    timestamp: '2026-11-21T10:02:20.000Z',
    data: { sessionId, agentId, score: 71.59, level: 'medium', previousLevel: 'low' },
  },
  'policy.matched': {
    type: 'policy.matched',
    timestamp: pendingAction.createdAt,
    data: {
      agentId,
      sessionId,
      toolName: action.toolName,
      decision: 'require_approval',
      policies: [{ policyId, policyName: rule.name, effect: 'require_approval', mode: 'enforce' }],
      morePolicies: 0,
    },
  },
  'guardian.action_pending': {
    type: 'guardian.action_pending',
    timestamp: pendingAction.createdAt,
    data: { ...pendingAction, approvals: { ...pendingAction.approvals, given: [] } },
  },
  'guardian.action_decided': {
    type: 'guardian.action_decided',
    timestamp: decidedAction.decision.decidedAt,
    data: decidedAction,
  },
};
