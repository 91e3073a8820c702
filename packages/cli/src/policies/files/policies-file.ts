import type { CallOutcome } from '@actlog/policy';
import type { ArgumentOrigins, PolicyCreate, PolicyEffect } from '@actlog/protocol';
import { policyCheck, policyCreate, proposedAction } from '@actlog/protocol/schemas';
import * as z from 'zod';

const { toolName, argumentsHash, arguments: shownArguments, origins } = proposedAction.shape;
const { agentId, sessionId, framework, environment, principal, subagent, parentAgentIds } = policyCheck.shape;
const { name, effect } = policyCreate.shape;

/** Agent of a test that names none. */
export const defaultAgent = 'agent';

/** A call before the action of a test. */
export interface FileCall {
  readonly tool: string;
  readonly agent?: string | undefined;
  readonly arguments?: Record<string, unknown> | undefined;
  readonly outcome?: CallOutcome | undefined;
  readonly secondsAgo?: number | undefined;
}

/** Token of the caller of a test, as far as it was verified. */
interface FileIdentity {
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
  readonly agentVerified?: boolean | undefined;
  readonly principalVerified?: boolean | undefined;
}

/** A test in a file. */
export interface FileTest {
  readonly name?: string | undefined;
  readonly action: {
    readonly tool: string;
    readonly agent?: string | undefined;
    readonly session?: string | undefined;
    readonly arguments?: Record<string, unknown> | undefined;
    readonly argumentsHash?: string | undefined;
    readonly origins?: ArgumentOrigins | undefined;
    readonly framework?: string | undefined;
    readonly environment?: string | undefined;
    readonly principal?: string | undefined;
    readonly subagent?: string | undefined;
    readonly parentAgents?: readonly string[] | undefined;
    readonly identity?: FileIdentity | undefined;
  };
  /** Time of the check, for schedules. */
  readonly at?: string | undefined;
  readonly earlierActions?: number | undefined;
  readonly earlierCalls?: readonly FileCall[] | undefined;
  readonly decision: PolicyEffect;
  /** Name of the policy; null for no policy, undefined for any. */
  readonly decidedBy?: string | null | undefined;
}

/** Content of a file. */
export interface PoliciesFile {
  readonly $schema?: string | undefined;
  readonly policies?: readonly PolicyCreate[] | undefined;
  readonly tests?: readonly FileTest[] | undefined;
  /** `true` if the tests run against the policies of this file alone, as if all were enforced. */
  readonly testsAlone?: boolean | undefined;
}

/** A policy in a file: the body of `POST /v1/policies`, with a name that no other policy has. */
export const filePolicy: z.ZodType<PolicyCreate> = policyCreate
  .extend({
    name: name.describe(
      'Name of the policy, at most 200 characters. It identifies the policy: a new name is a new policy.',
    ),
  })
  .meta({ id: 'Policy' });

/** Action of a test. */
const testAction = z
  .strictObject({
    tool: toolName.describe('Name of the tool.'),
    agent: agentId.optional().describe(`Id of the agent; "${defaultAgent}" by default.`),
    session: sessionId.describe('Id of the session; none by default.'),
    arguments: shownArguments.describe('Arguments that the agent shows; none by default.'),
    argumentsHash: argumentsHash
      .optional()
      .describe('Hash of the arguments, for conditions that read it; empty by default.'),
    origins: origins.describe('Sources of the arguments, by path such as `address.city`; none by default.'),
    framework: framework.describe('AI framework of the agent; none by default.'),
    environment: environment.describe('Environment, such as `production`; none by default.'),
    principal: principal.describe('Person or system on whose behalf the agent acts; none by default.'),
    subagent: subagent.describe("Name of the agent's subagent that acts; none by default."),
    parentAgents: parentAgentIds.describe(
      'Ids of the agents that the agent runs inside, nearest first; none by default.',
    ),
    identity: z
      .strictObject({
        issuer: z.string().optional().describe('Issuer of the token; an empty text by default.'),
        subject: z.string().optional().describe('Subject of the token; an empty text by default.'),
        agentVerified: z
          .boolean()
          .optional()
          .describe('`true` if the token verifies the agent; `true` by default.'),
        principalVerified: z
          .boolean()
          .optional()
          .describe('`true` if the token names the principal; `false` by default.'),
      })
      .optional()
      .describe('Token that verifies the caller; none by default.'),
  })
  .meta({ id: 'TestAction' });

/** A call before the action of a test. */
const earlierCall = z
  .strictObject({
    tool: toolName.describe('Name of the tool.'),
    agent: agentId.optional().describe('Id of the agent; that of the action by default.'),
    arguments: shownArguments.describe('Arguments that the agent showed; none by default.'),
    outcome: z
      .enum(['succeeded', 'failed', 'running', 'denied'])
      .optional()
      .describe('Outcome of the call; `succeeded` by default.'),
    secondsAgo: z
      .number()
      .min(0)
      .max(1_000_000_000)
      .optional()
      .describe('Seconds between the call and the action; 0 by default.'),
  })
  .meta({ id: 'EarlierCall' });

/** A test: an action, and the decision that the policies must make. */
const policyTest: z.ZodType<FileTest> = z
  .strictObject({
    name: name.optional().describe('Behavior that the test expects; the tool and the decision by default.'),
    action: testAction.describe('Tool call to decide.'),
    earlierActions: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('Number of actions that rates have counted before this one; 0 by default.'),
    earlierCalls: z
      .array(earlierCall)
      .max(1000)
      .optional()
      .describe(
        'Earlier calls of the session, oldest first, for conditions on the history; none by default.',
      ),
    at: z.iso
      .datetime({ offset: true, error: 'must be a time in ISO 8601, such as 2026-01-05T10:00:00Z' })
      .optional()
      .describe(
        'Time of the check for policies with a schedule, such as `2026-01-05T10:00:00Z`; Thursday, 1970-01-01T00:00:00Z, by default.',
      ),
    decision: effect.describe('Expected decision.'),
    decidedBy: name
      .nullable()
      .optional()
      .describe('Name of the policy that must decide; null for no policy. Any by default.'),
  })
  .meta({ id: 'Test' });

/** A file with policies, tests, or both. */
export const policiesFile: z.ZodType<PoliciesFile> = z.strictObject({
  $schema: z.string().optional().describe('Address of the JSON Schema of this file, for editors.'),
  policies: z.array(filePolicy).optional().describe('Policies, each with a name of its own.'),
  tests: z
    .array(policyTest)
    .optional()
    .describe('Tests of the policies, in this file or in others, that `actlog policies test` runs.'),
  testsAlone: z
    .boolean()
    .optional()
    .describe(
      'Runs the tests of this file against its policies alone, as if all were enforced; false by default.',
    ),
});
