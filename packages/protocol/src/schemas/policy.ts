import * as z from 'zod';
import { strictObject } from './object.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { glob, line, text, timestamp } from './scalar.ts';

const globs = z.array(glob).min(1).max(100);

function matched<List extends z.ZodType>(list: List) {
  return {
    /** Ids of agents; left out: every agent. */
    agents: list,
    /** Names of tools; left out: every tool. */
    tools: list,
    /** AI frameworks that the check names; left out: every one, and none. */
    frameworks: list,
    /** Environments that the check names, such as `production`; left out: every one, and none. */
    environments: list,
  } as const;
}

const rate = {
  /** Actions that pass in the window; the policy fires from the next one on. */
  max: z.int().min(0).max(1_000_000),
  /** Length of the window in seconds, which slides; a day at most. */
  windowSeconds: z.int().min(1).max(86_400),
  /** What is counted together; an action without a session counts for its agent. */
  per: z.enum(['agent', 'session', 'tenant']),
} as const;

const approval = {
  /** Seconds that an action waits for a person; a week at most. */
  timeoutSeconds: z.int().min(1).max(604_800),
  /** What the agent is told when nobody decides in time. */
  onTimeout: z.enum(['deny', 'allow']),
} as const;

/** Whom a policy is about; a list left out matches everyone. `*` stands for any run of characters. */
export const policyMatch = strictObject({}, matched(globs)).meta({ id: 'PolicyMatch' });

/** The policy fires only past this many actions in the window. */
export const policyRate = strictObject(rate).meta({ id: 'PolicyRate' });

/** How an approval ends when nobody decides. */
export const policyApproval = strictObject(approval).meta({ id: 'PolicyApproval' });

const effect = z.enum(['allow', 'deny', 'require_approval']);

const required = {
  /** What people call it; 200 characters at most. Names need not differ. */
  name: line(200),
  /** What it does to an action. Of several policies, `deny` outweighs `require_approval`, and that `allow`. */
  effect,
} as const;

const plain = {
  /** What it is for, over several lines if need be; null for nothing. 2,000 characters at most. */
  description: text(2000).nullable(),
  /** `log_only` is reported by a check and decides nothing; `enforce` is the default. */
  mode: z.enum(['enforce', 'log_only']),
  /** Order within one effect, highest first; 0 by default. */
  priority: z.int().min(-1000).max(1000),
  /** A CEL expression over `agent`, `session`, `action`, `args`, `framework` and `environment`; null for none. */
  condition: text(4000).nullable(),
  /** Told to the caller where the policy applies, so write it for the model; null for nothing. */
  message: text(1000).nullable(),
} as const;

const parts = {
  /** Whom it is about; an empty object is about every action. */
  match: policyMatch,
  /** Fires only past this many actions in a window; null: on every action. */
  rate: policyRate.nullable(),
  /** How an approval ends when nobody decides, for `require_approval` only; null: denied after 900 seconds. */
  approval: policyApproval.nullable(),
} as const;

/** A policy. */
export const policy = resource(
  'Policy',
  {
    /** Identifies it for good. */
    id: z.string(),
  },
  {
    ...required,
    ...plain,
    ...parts,
    /** `archived` is final: still read, never matched, never changed. */
    status: z.enum(['active', 'archived']),
    /** When it was created. */
    createdAt: timestamp,
    /** When it last changed; archiving counts. */
    updatedAt: timestamp,
    /** When it was archived; null while it is active. */
    archivedAt: timestamp.nullable(),
    /** 1 when it is created, and one more with each change. */
    version: z.int(),
  },
);

/** Body of `POST /v1/policies`. */
export const policyCreate = strictObject(required, { ...plain, ...parts }).meta({ id: 'PolicyCreate' });

/**
 * Body of `PATCH /v1/policies/:id`: JSON Merge Patch (RFC 7396). Of a rate or an approval it may name some fields;
 * what comes of it has to be whole.
 */
export const policyUpdate = strictObject(
  {},
  {
    ...required,
    ...plain,
    /** Merged list by list: one that is null is taken away, one that is left out stays. */
    match: strictObject({}, matched(globs.nullable())).meta({ id: 'PolicyMatchUpdate' }),
    /** Merged field by field, and has to be whole afterwards; null takes it away. */
    rate: strictObject({}, rate).meta({ id: 'PolicyRateUpdate' }).nullable(),
    /** Merged field by field, and has to be whole afterwards; null takes it away. */
    approval: strictObject({}, approval).meta({ id: 'PolicyApprovalUpdate' }).nullable(),
  },
)
  .refine((patch) => Object.keys(patch).length > 0, 'must name at least one field to change')
  .meta({ id: 'PolicyUpdate', minProperties: 1 });

/** What a policy does to an action. */
export type PolicyEffect = z.output<typeof effect>;
/** A policy. */
export type Policy = Accepted<typeof policy>;
/** Body of `POST /v1/policies`. */
export type PolicyCreate = Given<typeof policyCreate>;
/** Body of `PATCH /v1/policies/:id`. */
export type PolicyUpdate = Given<typeof policyUpdate>;
