import { endpointNames, endpoints } from '@actlog/protocol';
import type { CheckReport, ContractReport, RequirementResult, RequirementStatus } from './contract-report.ts';
import type { Requirement } from './requirement.ts';
import { requirementOfEndpoint } from './requirements/endpoints.ts';

/** Returns the result of a requirement from the results of its checks. */
export function requirementResult(
  { id, level, section, text }: Requirement,
  checks: readonly CheckReport[],
): RequirementResult {
  return { id, level, section, text, status: statusOf(checks), checks };
}

function statusOf(checks: readonly CheckReport[]): RequirementStatus {
  const has = (status: string) => checks.some((check) => check.status === status);
  if (has('failed')) return 'failed';
  if (has('skipped')) return checks.every(({ status }) => status === 'skipped') ? 'skipped' : 'partial';
  if (has('passed')) return 'passed';
  return has('noted') ? 'noted' : 'skipped';
}

/** Returns the endpoints, such as `POST /v1/agents`, of which no check could run. */
export function uncheckedEndpointsOf(results: readonly RequirementResult[]): string[] {
  return endpointNames.flatMap((name) => {
    const result = results.find(({ id }) => id === requirementOfEndpoint[name]);
    return result?.status === 'skipped' ? [`${endpoints[name].method} ${endpoints[name].path}`] : [];
  });
}

/** Counts requirements by status. */
export function countsOf(results: readonly RequirementResult[]): ContractReport['counts'] {
  const count = (test: (result: RequirementResult) => boolean) => results.filter(test).length;
  const of = (status: RequirementStatus) => count((result) => result.status === status);
  return {
    passed: of('passed'),
    failed: of('failed'),
    partial: of('partial'),
    skipped: of('skipped'),
    noted: of('noted'),
    mustFailed: count(({ status, level }) => status === 'failed' && level === 'MUST'),
    shouldFailed: count(({ status, level }) => status === 'failed' && level === 'SHOULD'),
    mustUnchecked: count(
      ({ status, level }) => level === 'MUST' && (status === 'skipped' || status === 'partial'),
    ),
  };
}
