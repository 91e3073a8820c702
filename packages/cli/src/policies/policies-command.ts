import { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { jsonText } from '../output/json-text.ts';
import { print } from '../output/print.ts';
import { addPoliciesApply } from './apply.ts';
import { addPoliciesBacktest } from './backtest.ts';
import { addPoliciesArchive, addPoliciesCreate, addPoliciesUpdate } from './change-policies.ts';
import { addPoliciesCheck } from './check.ts';
import { addPoliciesDecisions } from './decisions.ts';
import { addPoliciesPlan } from './plan.ts';
import { addPoliciesPull } from './pull.ts';
import { addPoliciesList, addPoliciesShow } from './read-policies.ts';
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

/** Adds `policies schema`. */
function addPoliciesSchema(parent: Command): void {
  const command = parent
    .command('schema')
    .description('print the JSON Schema of policy files, for editors')
    .action(async () => {
      const { policiesJsonSchema } = await import('./files/policies-json-schema.ts');
      await print(jsonText(policiesJsonSchema(), 2));
    });
  addExamples(command, ['actlog policies schema > policies.schema.json']);
}
