import { defaultPolicyBudget } from '@actlog/policy';

/** Kinds of usage that are counted per calendar month (UTC). */
export const monthlyKinds = ['events', 'checks'] as const;

/** All kinds of usage counted per tenant. Rows are written in this order, so that writers cannot deadlock. */
export const usageKinds = [
  ...monthlyKinds,
  'sessions',
  'agents',
  'metadataBytes',
  'heldActions',
  'heldActionBytes',
  'decisions',
  'auditEntries',
] as const;

/** Kind of usage that writes keep count of, so that no request has to count rows. */
export type UsageKind = (typeof usageKinds)[number];

/** Amounts by kind of usage. */
export type Usage = Readonly<Record<UsageKind, number>>;

/** Definition of a quota. */
export interface QuotaDefinition {
  /** Maximum when neither the deployment nor the tenant sets one. */
  readonly defaultMax: number;
  /** Unit, to follow a number. */
  readonly unit: string;
  /** Way for a tenant to free room without the operator, as a sentence; empty if there is none. */
  readonly remedy: string;
  /** Request field that exceeds the quota; requests with another value may pass. Empty if none does. */
  readonly path: string;
  /** Usage that writes count; left out if a query counts the few rows. */
  readonly usage?: UsageKind;
}

/**
 * All quotas of a tenant. The defaults are far beyond the use of a company with thousands of agents, and low enough
 * that one key cannot fill a disk. To add a quota, add an entry here and, if it is not counted by writes, in
 * `administration/tenants.ts`.
 */
export const quotaTable = {
  eventsPerMonth: {
    defaultMax: 100_000_000,
    unit: 'events a month',
    remedy: 'A new quota begins with the next month.',
    path: '',
    usage: 'events',
  },
  checksPerMonth: {
    defaultMax: 100_000_000,
    unit: 'recorded checks a month',
    remedy: 'A new quota begins with the next month.',
    path: '',
    usage: 'checks',
  },
  sessions: {
    defaultMax: 10_000_000,
    unit: 'stored sessions',
    remedy: 'Sessions deleted by retention make room.',
    path: 'sessionId',
    usage: 'sessions',
  },
  agents: {
    defaultMax: 100_000,
    unit: 'agents, registered or seen',
    remedy: 'Use one agentId per agent, not one per run.',
    path: 'agentId',
    usage: 'agents',
  },
  metadataBytes: {
    defaultMax: 100_000_000,
    unit: 'bytes of agent metadata',
    remedy: 'Set members of metadata to null to remove them.',
    path: 'metadata',
    usage: 'metadataBytes',
  },
  heldActions: {
    defaultMax: 1000,
    unit: 'actions that wait for a decision',
    remedy: 'Decide pending actions, or wait until they expire.',
    path: '',
    usage: 'heldActions',
  },
  heldActionBytes: {
    defaultMax: 1_000_000_000,
    unit: 'bytes of held actions, decided ones included',
    remedy: 'Held actions deleted by retention make room.',
    path: '',
    usage: 'heldActionBytes',
  },
  decisions: {
    defaultMax: 10_000_000,
    unit: 'stored decisions of the policies',
    remedy: 'Decisions deleted by their retention make room.',
    path: '',
    usage: 'decisions',
  },
  auditEntries: {
    defaultMax: 1_000_000,
    unit: 'stored entries of the audit log',
    remedy: 'Entries deleted by their retention make room.',
    path: '',
    usage: 'auditEntries',
  },
  policies: {
    defaultMax: 1000,
    unit: 'active policies',
    remedy: 'Archive a policy.',
    path: '',
  },
  policyCost: {
    defaultMax: defaultPolicyBudget,
    unit: 'microseconds that the active policies cost a check',
    remedy: 'Archive a policy.',
    path: '',
  },
  storedPolicies: {
    defaultMax: 10_000,
    unit: 'policies, archived ones included',
    remedy: 'Change a policy instead of replacing it.',
    path: '',
  },
  judgments: {
    defaultMax: 500,
    unit: 'active judgments of risk, those about one session not included',
    remedy: 'End a judgment.',
    path: 'scope',
  },
  storedJudgments: {
    defaultMax: 10_000,
    unit: 'judgments of risk, ended ones included',
    remedy: 'Sessions deleted by retention take the judgments about them with them.',
    path: '',
  },
  channels: {
    defaultMax: 20,
    unit: 'active webhooks',
    remedy: '',
    path: '',
  },
  storedChannels: {
    defaultMax: 1000,
    unit: 'webhooks, disabled ones included',
    remedy: '',
    path: '',
  },
} as const satisfies Record<string, QuotaDefinition>;

/** Name of a quota. */
export type QuotaName = keyof typeof quotaTable;

/** Names of all quotas. */
export const quotaNames = Object.keys(quotaTable) as readonly QuotaName[];

/** Returns the definition of a quota. */
export function quotaDefinition(name: QuotaName): QuotaDefinition {
  return quotaTable[name];
}
