import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { printRecord } from '../output/print-record.ts';
import { actionDetails } from './action-columns.ts';

/** Adds `guardian approve` and `guardian deny`. */
export function addGuardianDecisions(parent: Command): void {
  addDecision(parent, 'approve', 'let held actions run', [
    'actlog guardian approve pac_0198c1d2e3f47a5b8c6d7e8f90a1b2c3',
    'actlog guardian approve ID --comment "Confirmed with the customer."',
  ]);
  addDecision(parent, 'deny', 'keep held actions from running', [
    ['actlog guardian deny ID --comment "Ask the customer first."', 'the model reads the comment'],
  ]);
}

function addDecision(
  parent: Command,
  decision: 'approve' | 'deny',
  description: string,
  examples: Parameters<typeof clientCommand>[1]['examples'],
): void {
  clientCommand(parent, { usage: `${decision} <ids...>`, description: `${description}; final`, examples })
    .option('--comment <text>', 'comment that is passed to the agent, so write it for the model')
    .action(async (ids: string[], flags: ClientFlags & { readonly comment?: string }) => {
      const client = await connect(flags);
      const { comment } = flags;
      for (const id of ids) {
        const body = { decision, ...(comment !== undefined && { comment }) };
        const action = await client.guardian.pendingActions.decide(id, body);
        await printRecord(action, actionDetails(action), flags);
      }
    });
}
