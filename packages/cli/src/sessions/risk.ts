import type { Risk, RiskDimension } from '@actlog/client';
import { wholeScore } from '@actlog/protocol';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { print } from '../output/print.ts';
import { printDetails } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { riskStyle, riskText } from '../output/risk-style.ts';
import { styled } from '../output/style.ts';
import { type Column, Table } from '../output/table.ts';
import { terminalWidth } from '../output/terminal-width.ts';

const columns: readonly Column<RiskDimension>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'DIMENSION', value: ({ name }) => name, minWidth: 20 },
  { title: 'SCORE', value: ({ score }) => wholeScore(score), align: 'right' },
  { title: 'LEVEL', value: ({ level }) => level, style: ({ level }) => riskStyle(level) },
  { title: 'VISIBLE', value: ({ observable }) => (observable ? 'yes' : 'no'), style: () => 'dim' },
];

/** Adds `sessions risk`. */
export function addSessionsRisk(parent: Command): void {
  clientCommand(parent, {
    usage: 'risk <id>',
    description: 'show the risk of a session in ten dimensions, with the reasons',
    examples: [
      'actlog sessions risk order-4711',
      ["actlog sessions risk order-4711 --json | jq '.score'", 'the score alone'],
    ],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    const risk = await client.sessions.risk(id);
    const format = formatOf(flags);
    if (format !== 'table') return print(jsonText(risk, format === 'json' ? 2 : undefined));
    await printRisk(risk);
  });
}

async function printRisk(risk: Risk): Promise<void> {
  await printDetails([
    ['session', risk.sessionId, 'bold'],
    ['risk', riskText(risk), riskStyle(risk.level)],
    ['events', risk.eventCount],
    ['engine', risk.engineVersion],
  ]);
  const { dimensions = [], factors = [], recommendations = [] } = risk;
  if (dimensions.length > 0) {
    const table = new Table(columns, terminalWidth());
    table.fit(dimensions);
    await print(`\n${table.header()}`);
    for (const dimension of dimensions) await print(table.line(dimension));
  }
  if (factors.length > 0) await print(`\n${styled('bold', 'Reasons')}`);
  for (const { title, explanation, ruleId, delta } of factors) {
    await print(`  ${printable(title)} ${styled('dim', `(${printable(ruleId)}, +${delta.toFixed(1)})`)}`);
    await print(`    ${printable(explanation)}`);
  }
  if (recommendations.length > 0) await print(`\n${styled('bold', 'Recommendations')}`);
  for (const { title, text } of recommendations) await print(`  ${printable(title)}: ${printable(text)}`);
}
