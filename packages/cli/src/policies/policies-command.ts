import { Command } from 'commander';
import { addPoliciesBacktest } from './backtest.ts';
import { addPoliciesArchive, addPoliciesCreate, addPoliciesUpdate } from './change-policies.ts';
import { addPoliciesCheck } from './check.ts';
import { addPoliciesDecisions } from './decisions.ts';
import { addPoliciesList, addPoliciesShow } from './read-policies.ts';

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
  return policies;
}
