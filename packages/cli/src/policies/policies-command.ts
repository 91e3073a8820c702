import { Command } from 'commander';
import { addPoliciesApply } from './apply.ts';
import { addPoliciesBacktest } from './backtest.ts';
import { addPoliciesArchive, addPoliciesCreate, addPoliciesUpdate } from './change-policies.ts';
import { addPoliciesCheck } from './check.ts';
import { addPoliciesDecisions } from './decisions.ts';
import { addPoliciesPlan } from './plan.ts';
import { addPoliciesPull } from './pull.ts';
import { addPoliciesList, addPoliciesShow } from './read-policies.ts';
import { addPoliciesSchema } from './schema.ts';
import { addPoliciesTest } from './test.ts';

/** Creates the command `policies`. */
export function policiesCommand(): Command {
  const policies = new Command('policies').description(
    'Manages the policies that decide what agents may do.',
  );
  addPoliciesList(policies);
  addPoliciesShow(policies);
  addPoliciesCheck(policies);
  addPoliciesDecisions(policies);
  addPoliciesBacktest(policies);
  addPoliciesCreate(policies);
  addPoliciesUpdate(policies);
  addPoliciesArchive(policies);
  addPoliciesPlan(policies);
  addPoliciesApply(policies);
  addPoliciesTest(policies);
  addPoliciesPull(policies);
  addPoliciesSchema(policies);
  return policies;
}
