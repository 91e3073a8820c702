import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContractReport, runContract } from '../../src/index.ts';
import { Deployment } from '../deployment.ts';
import type { MutantGroup } from './groups.ts';
import type { Mutant } from './mutant.ts';

/** Runs the suite against a deployment with the fault, behind a proxy and with tenants of its own. */
async function judge(
  deployment: Deployment,
  { fault, options }: Mutant,
  only: readonly string[],
): Promise<ContractReport> {
  const keys = await deployment.newKeys();
  const proxy = await deployment.newProxy(fault(keys));
  try {
    return await runContract({
      baseURL: proxy.url,
      apiKey: keys.own,
      secondTenantKey: keys.other,
      retiredKey: keys.retired,
      settleMs: 0,
      clock: { sleep: async () => {} },
      only,
      ...options,
    });
  } finally {
    await proxy.close();
  }
}

function failedIn({ requirements: results }: ContractReport): string[] {
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ id, level }) => (level === 'MUST' ? id : `*${id}`));
}

/** Tests that each fault of a group fails the requirements that it is said to, and no others. */
export function judgesMutants({ mutants, only }: MutantGroup): void {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start();
  });

  afterAll(() => deployment.close());

  it.concurrent.each(mutants)('$name', async (mutant) => {
    const report = await judge(deployment, mutant, only);
    expect(failedIn(report).sort()).toEqual([...mutant.caughtBy].sort());
    expect(report.ok).toBe(mutant.caughtBy.every((id) => id.startsWith('*')));
  });
}
