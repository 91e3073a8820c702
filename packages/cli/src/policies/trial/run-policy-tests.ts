import { checkedAction, PolicyTrial, policyDefinition } from '@actlog/policy';
import type { PolicyEffect } from '@actlog/protocol';
import { readsUntrusted } from '@actlog/risk';
import { defaultAgent, type FileTest } from '../files/policies-file.ts';
import { PolicyFileError } from '../files/policy-file-error.ts';
import type { PolicyFiles } from '../files/policy-files.ts';
import type { Position } from '../files/position.ts';

/** Time of a test that names none. */
const defaultTime = '1970-01-01T00:00:00Z';

/** Decision with the name of the deciding policy; null for no policy, undefined for any. */
export interface NamedDecision {
  readonly decision: PolicyEffect;
  readonly decidedBy?: string | null | undefined;
}

/** A policy's part in a failed test. */
export interface ExplainedPolicy {
  readonly name: string;
  /** `true` if it applies to the action. */
  readonly applies: boolean;
  /** Reason why it applies or does not apply. */
  readonly why: string;
}

/** Result of one test. */
export interface PolicyTestResult extends Position {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: NamedDecision;
  readonly actual: NamedDecision;
  /** All policies in order of precedence; empty if the test passed. */
  readonly policies: readonly ExplainedPolicy[];
}

/** Results of all tests. */
export interface PolicyTestReport {
  readonly passed: number;
  readonly failed: number;
  /** Names of the policies that decide in no test. */
  readonly neverDeciding: readonly string[];
  readonly tests: readonly PolicyTestResult[];
}

/**
 * Runs the tests of policy files by the rules of the service, without the service. Policies with the same precedence are
 * ordered as in the files, as if they were created in that order.
 *
 * @throws PolicyFileError if a test names a policy that is in no file
 */
export function runPolicyTests({ policies, tests }: PolicyFiles): PolicyTestReport {
  requireKnownNames({ policies, tests });
  const digits = String(policies.length).length;
  const trial = new PolicyTrial(
    policies.map(({ policy }, index) => ({
      id: String(index).padStart(digits, '0'),
      definition: policyDefinition(policy),
    })),
    { readsUntrusted },
  );
  const deciding = new Set<string | null>();
  const results = tests.map(({ test, position }): PolicyTestResult => {
    const verdict = trial.check(actionOf(test), {
      actions: test.earlierActions,
      calls: test.earlierCalls?.map(({ tool, agent, ...call }) => ({
        ...call,
        toolName: tool,
        agentId: agent,
      })),
      atMs: Date.parse(test.at ?? defaultTime),
    });
    const actual = { decision: verdict.decision, decidedBy: verdict.decidedBy?.definition.name ?? null };
    deciding.add(actual.decidedBy);
    const { decision, decidedBy } = test;
    const passed =
      decision === actual.decision && (decidedBy === undefined || decidedBy === actual.decidedBy);
    return {
      name: test.name ?? `${test.action.tool}: ${decision}`,
      ...position,
      passed,
      expected: { decision, ...(decidedBy !== undefined && { decidedBy }) },
      actual,
      policies: passed
        ? []
        : verdict
            .explain()
            .map(({ policy, applies, why }) => ({ name: policy.definition.name, applies, why })),
    };
  });
  const failed = results.filter(({ passed }) => !passed).length;
  const names = policies.map(({ policy }) => policy.name);
  return {
    passed: results.length - failed,
    failed,
    neverDeciding: names.filter((name) => !deciding.has(name)),
    tests: results,
  };
}

function requireKnownNames({ policies, tests }: PolicyFiles): void {
  const names = new Set(policies.map(({ policy }) => policy.name));
  const problems = tests.flatMap(({ test: { decidedBy }, positionOf }) =>
    decidedBy == null || names.has(decidedBy)
      ? []
      : [{ position: positionOf(['decidedBy']), message: `decidedBy: there is no policy "${decidedBy}"` }],
  );
  if (problems.length > 0) throw new PolicyFileError(problems);
}

function actionOf({ action }: FileTest): ReturnType<typeof checkedAction> {
  const { agent, session, tool, framework, environment, principal, subagent, parentAgents } = action;
  return checkedAction({
    agentId: agent ?? defaultAgent,
    sessionId: session,
    action: {
      toolName: tool,
      argumentsHash: action.argumentsHash ?? '',
      arguments: action.arguments,
      origins: action.origins,
    },
    framework,
    environment,
    principal,
    subagent,
    parentAgentIds: parentAgents && [...parentAgents],
  });
}
