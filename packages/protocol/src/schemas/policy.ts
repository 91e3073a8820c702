import * as z from 'zod';
import { limits } from '../limits.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { glob, line, type Optional, strictObject, text, timestamp } from './scalar.ts';

const globs = z.array(glob).min(1).max(100);

function matched<List extends z.ZodType>(list: List) {
  return {
    /** Ids of agents; every agent if omitted. */
    agents: list,
    /** Names of tools; every tool if omitted. */
    tools: list,
    /** AI frameworks that the check names; any or none if omitted. */
    frameworks: list,
    /** Environments that the check names, such as `production`; any or none if omitted. */
    environments: list,
  } as const;
}

const rate = {
  /** Number of actions allowed in the window; the policy applies from the next one on. */
  max: z.int().min(0).max(1_000_000),
  /** Length of the sliding window in seconds; at most one day. */
  windowSeconds: z.int().min(1).max(86_400),
  /** Scope of the count; an action without a session counts for its agent. */
  per: z.enum(['agent', 'session', 'tenant']),
} as const;

const approval = {
  /** Time that an action waits for a decision, in seconds; at most one week. */
  timeoutSeconds: z.int().min(1).max(604_800),
  /** Decision that the agent receives if nobody decides in time. */
  onTimeout: z.enum(['deny', 'allow']),
} as const;

const approvalUse = {
  /**
   * `true` if each approval lets one call run and a later call needs another; false by default. A repeat of the same check, by its `actionId`, still gets `allow` for 60
   * seconds.
   */
  singleUse: z.boolean(),
  /** Number of approvers who must approve; 1 by default. Each approver counts once, and one denial denies. */
  requiredApprovers: z.int().min(1).max(10),
  /** `true` if the requester cannot approve: neither the key that sent the check, nor the same principal; false by default. */
  notRequester: z.boolean(),
  /** `true` if nobody can approve an action unless a token verifies its principal; false by default. */
  verifiedPrincipal: z.boolean(),
} as const;

const approverKeys = z.array(line(200)).min(1).max(100);
const approverGroups = z.array(line(200)).min(1).max(100);

const approvers = {
  /** Ids of the API keys that may approve; every key with the scope `decide` if omitted. Any of those can deny. */
  approverKeys,
  /** Groups whose people may approve, as the sign-in names them; everyone who may decide if omitted. Any of those can deny. */
  approverGroups,
} as const;

/** Names of nested objects, joined with dots. */
const argumentPath = line(limits.maxArgumentPathLength)
  .regex(/^[^.]+(\.[^.]+)*$/, 'must be names joined with dots, such as amount or address.city')
  .refine(
    (path) => !path.split('.').includes('__proto__'),
    'must not contain __proto__, which the service removes from arguments',
  );

/** A limit of a number in a policy, whose digits all survive in every parser. */
const exactLimit = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

const editablePath = {
  /** Argument that an approver may change if the agent shows it: names joined with dots, such as `amount` or `address.city`. */
  path: argumentPath,
} as const;

const editableLimits = {
  /** Highest changed number, which is also never above the requested one. */
  max: exactLimit,
  /** Lowest changed number; 0 by default. */
  min: exactLimit,
  /** `true` permits a list with at least one of the requested elements and no others, in their order. */
  subset: z.literal(true),
  /** Texts that the changed text can be. */
  oneOf: z.array(text(2000)).min(1).max(100),
  /** `true` permits any changed text of at most 2,000 characters. */
  anyText: z.literal(true),
} as const;

/** The fields of {@link editableArgument}. */
export type EditableArgumentShape = {
  readonly [Field in keyof typeof editablePath]: (typeof editablePath)[Field];
} & Optional<{ readonly [Field in keyof typeof editableLimits]: (typeof editableLimits)[Field] }>;

/** Argument that an approver may change, with one kind of limit: for a number, a list or a text. */
export const editableArgument: z.ZodObject<EditableArgumentShape, z.core.$strict> = strictObject(
  editablePath,
  editableLimits,
)
  .refine(
    ({ max, min, subset, oneOf, anyText }) =>
      [max ?? min, subset, oneOf, anyText].filter((limit) => limit !== undefined).length === 1,
    'must have exactly one kind of limit: max and min for a number, subset for a list, oneOf or anyText for a text',
  )
  .refine(
    ({ max, min = 0 }) => max === undefined || max >= min,
    'must have a max that is not below its min, which is 0 by default',
  )
  .meta({ id: 'EditableArgument' });

/** Arguments that an approver may change. */
export const editableArguments = z.array(editableArgument).min(1).max(limits.maxEditableArguments);

const changes = {
  /** Arguments that an approver may change within limits, for an approval of the changed arguments; none if omitted. */
  editable: editableArguments,
} as const;

const timeOfDay = (pattern: RegExp, example: string) =>
  z.string().regex(pattern, `must be a time of day in hours and minutes, such as ${example}`);

const zone = {
  /** Time zone by whose clock the days and times are meant, such as `Europe/Berlin`. */
  timeZone: line(100),
} as const;

const week = z
  .array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']))
  .min(1)
  .max(7);

const times = {
  /** Start of the window on each day (inclusive), such as `09:00`; `00:00` by default. */
  from: timeOfDay(/^([01]\d|2[0-3]):[0-5]\d$/, '09:00'),
  /** End of the window (exclusive), such as `17:30`; `24:00` by default. Before `from`, it is on the next day. */
  to: timeOfDay(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, '17:30'),
} as const;

const window = {
  /** Days on which the window starts; every day if omitted. */
  days: week,
  ...times,
} as const;

/** Selects the actions that a policy applies to; an omitted list matches everything. `*` matches any characters. */
export const policyMatch = strictObject({}, matched(globs)).meta({ id: 'PolicyMatch' });

/** Makes the policy apply only after this many actions in the window. */
export const policyRate = strictObject(rate).meta({ id: 'PolicyRate' });

/** Outcome of an approval that nobody decides, who must approve, and whether an approval is for one call. */
export const policyApproval = strictObject(approval, { ...approvalUse, ...approvers, ...changes }).meta({
  id: 'PolicyApproval',
});

/** Times at which a policy applies. */
export const policySchedule = strictObject(zone, window).meta({ id: 'PolicySchedule' });

const effect = z.enum(['allow', 'deny', 'require_approval']);

const required = {
  /** Display name, at most 200 characters; it need not be unique. */
  name: line(200),
  /** Effect on an action. `deny` takes precedence over `require_approval`, which takes precedence over `allow`. */
  effect,
} as const;

const plain = {
  /** Purpose of the policy, at most 2,000 characters, may span several lines; null for none. */
  description: text(2000).nullable(),
  /** `log_only` policies are reported by a check but do not affect the decision; `enforce` by default. */
  mode: z.enum(['enforce', 'log_only']),
  /**
   * Order among policies with the same effect, highest first; 0 by default. A policy that denies or holds with -1000
   * decides only if no other enforced policy applies.
   */
  priority: z.int().min(-1000).max(1000),
  /**
   * A CEL expression over `agent`, `session`, `action`, `args`, `origins`, `framework`, `environment` and `principal`; null
   * for none. `session` and `agent` have functions that read earlier calls, such as `session.called("approve_*")`.
   */
  condition: text(4000).nullable(),
  /** Message to the caller if the policy applies, so write it for the model; null for none. */
  message: text(1000).nullable(),
} as const;

const parts = {
  /** Actions that the policy applies to; an empty object matches every action. */
  match: policyMatch,
  /** Applies only after this many actions in a window; null applies to every action. */
  rate: policyRate.nullable(),
  /** Timeout, approvers and use of approvals, for `require_approval` only; null: denied after 900 seconds. */
  approval: policyApproval.nullable(),
  /** Times at which the policy applies; null applies always. */
  schedule: policySchedule.nullable(),
} as const;

/** A policy. */
export const policy = resource(
  'Policy',
  {
    /** Permanent identifier. */
    id: z.string(),
  },
  {
    ...required,
    ...plain,
    ...parts,
    /** `archived` is permanent: the policy can be read but never matches and never changes. */
    status: z.enum(['active', 'archived']),
    /** Time at which the policy was created. */
    createdAt: timestamp,
    /** Time of the last change, including archiving. */
    updatedAt: timestamp,
    /** Time at which the policy was archived; null while it is active. */
    archivedAt: timestamp.nullable(),
    /** 1 on creation, incremented by each change. */
    version: z.int(),
  },
);

/** Body of `POST /v1/policies`. */
export const policyCreate = strictObject(required, { ...plain, ...parts }).meta({ id: 'PolicyCreate' });

/**
 * Body of `PATCH /v1/policies/:id`: JSON Merge Patch (RFC 7396). It may name some fields of a rate or an approval;
 * the merged result must be complete.
 */
export const policyUpdate = strictObject(
  {},
  {
    ...required,
    ...plain,
    /** Merged list by list: null removes a list, an omitted list stays unchanged. */
    match: strictObject({}, matched(globs.nullable())).meta({ id: 'PolicyMatchUpdate' }),
    /** Merged field by field; the result must be complete. Null removes it. */
    rate: strictObject({}, rate).meta({ id: 'PolicyRateUpdate' }).nullable(),
    /** Merged field by field; the result must be complete. Null removes it. */
    approval: strictObject(
      {},
      {
        ...approval,
        ...approvalUse,
        /** Ids of the API keys that may approve; null lets every key with the scope `decide` approve. */
        approverKeys: approverKeys.nullable(),
        /** Arguments that an approver may change within limits; null for none. */
        editable: editableArguments.nullable(),
        /** Groups whose people may approve; null lets everyone who may decide approve. */
        approverGroups: approverGroups.nullable(),
      },
    )
      .meta({ id: 'PolicyApprovalUpdate' })
      .nullable(),
    /** Merged field by field; the result must be complete. Null removes it. */
    schedule: strictObject(
      {},
      {
        ...zone,
        /** Days on which the window starts; null for every day. */
        days: week.nullable(),
        /** Start of the window on each day (inclusive); null for `00:00`. */
        from: times.from.nullable(),
        /** End of the window (exclusive); null for `24:00`. */
        to: times.to.nullable(),
      },
    )
      .meta({ id: 'PolicyScheduleUpdate' })
      .nullable(),
  },
)
  .refine((patch) => Object.keys(patch).length > 0, 'must name at least one field to change')
  .meta({ id: 'PolicyUpdate', minProperties: 1 });

/** Argument that an approver may change, with its limit. */
export type EditableArgument = Given<typeof editableArgument>;
/** Effect of a policy on an action. */
export type PolicyEffect = z.output<typeof effect>;
/** A policy. */
export interface Policy extends Accepted<typeof policy> {}
/** Body of `POST /v1/policies`. */
export type PolicyCreate = Given<typeof policyCreate>;
/** Body of `PATCH /v1/policies/:id`. */
export type PolicyUpdate = Given<typeof policyUpdate>;
