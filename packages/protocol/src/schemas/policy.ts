import * as z from 'zod';
import { type Accepted, type Given, resource } from './resource.ts';
import { glob, line, text, timestamp } from './scalar.ts';

const globs = z.array(glob).min(1).max(100);

/** Whom a policy is about; a list left out matches everyone. `*` stands for any run of characters. */
export const policyMatch = z.strictObject({
  agents: globs.optional(),
  tools: globs.optional(),
  frameworks: globs.optional(),
  environments: globs.optional(),
});

/** The policy fires only past this many actions in the window. */
export const policyRate = z.strictObject({
  max: z.int().min(0).max(1_000_000),
  windowSeconds: z.int().min(1).max(86_400),
  per: z.enum(['agent', 'session', 'tenant']),
});

/** How an approval ends when nobody decides. */
export const policyApproval = z.strictObject({
  timeoutSeconds: z.int().min(1).max(604_800),
  onTimeout: z.enum(['deny', 'allow']),
});

const mode = z.enum(['enforce', 'log_only']);
const effect = z.enum(['allow', 'deny', 'require_approval']);

const writable = {
  name: line(200),
  description: text(2000).nullable(),
  /** `log_only` is reported by a check and decides nothing. */
  mode,
  effect,
  /** Order within one effect, highest first. */
  priority: z.int().min(-1000).max(1000),
  match: policyMatch,
  /** A CEL expression, checked when the policy is written. */
  condition: text(4000).nullable(),
  rate: policyRate.nullable(),
  approval: policyApproval.nullable(),
  /** Told to the caller when the policy decides. */
  message: text(1000).nullable(),
};

/** A policy. */
export const policy = resource(
  'Policy',
  { id: z.string() },
  {
    ...writable,
    status: z.enum(['active', 'archived']),
    createdAt: timestamp,
    updatedAt: timestamp,
    archivedAt: timestamp.nullable(),
    version: z.int(),
  },
);

/** Body of `POST /v1/policies`. */
export const policyCreate = z.strictObject({
  name: writable.name,
  effect: writable.effect,
  description: writable.description.optional(),
  mode: writable.mode.optional(),
  priority: writable.priority.optional(),
  match: writable.match.optional(),
  condition: writable.condition.optional(),
  rate: writable.rate.optional(),
  approval: writable.approval.optional(),
  message: writable.message.optional(),
});

const takenAway = globs.nullable().optional();

/** A change of {@link policyMatch}: a list that is null is taken away, one that is left out stays. */
const policyMatchUpdate = z.strictObject({
  agents: takenAway,
  tools: takenAway,
  frameworks: takenAway,
  environments: takenAway,
});

/**
 * Body of `PATCH /v1/policies/:id`: JSON Merge Patch (RFC 7396). Of a rate or an approval it may name some fields;
 * what comes of it has to be whole.
 */
export const policyUpdate = z
  .strictObject({
    ...writable,
    match: policyMatchUpdate,
    rate: policyRate.partial().nullable(),
    approval: policyApproval.partial().nullable(),
  })
  .partial()
  .refine((patch) => Object.keys(patch).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 });

/** What a policy does to an action. */
export type PolicyEffect = z.output<typeof effect>;
/** A policy. */
export type Policy = Accepted<typeof policy>;
/** Body of `POST /v1/policies`. */
export type PolicyCreate = Given<typeof policyCreate>;
/** Body of `PATCH /v1/policies/:id`. */
export type PolicyUpdate = Given<typeof policyUpdate>;
