import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { jsonText } from '../output/json-text.ts';
import { print } from '../output/print.ts';

/** Adds `policies schema`. */
export function addPoliciesSchema(parent: Command): void {
  const command = parent
    .command('schema')
    .description('print the JSON Schema of policy files, for editors')
    .action(async () => {
      const { policiesJsonSchema } = await import('./files/policies-json-schema.ts');
      await print(jsonText(policiesJsonSchema(), 2));
    });
  addExamples(command, ['actlog policies schema > policies.schema.json']);
}
