import { describe, expect, it } from 'vitest';
import { riskCommand } from './command.ts';
import { RULES } from './rule-catalogue.ts';

async function run(...args: string[]): Promise<string> {
  let printed = '';
  const command = riskCommand((text) => {
    printed += text;
  });
  for (const one of [command, ...command.commands, ...command.commands.flatMap((part) => part.commands)]) {
    one.exitOverride().configureOutput({ writeErr: () => {} });
  }
  await command.parseAsync(args, { from: 'user' });
  return printed;
}

describe('actlog-risk', () => {
  it('lists all rules', async () => {
    const table = await run('rules');
    for (const rule of RULES) expect(table).toContain(rule.id);
    expect(table).toContain(`${RULES.length} rules`);
  });

  it.each(RULES.map((rule) => rule.id))('explains %s', async (id) => {
    const text = await run('rules', 'explain', id);
    expect(text).toContain('False positives');
    expect(text).toContain('Does not match in');
    expect(text).not.toContain('undefined');
  });

  it('rejects an unknown rule and names the command that lists them', async () => {
    await expect(run('rules', 'explain', 'nonsense')).rejects.toThrow(/unknown rule "nonsense".*for a list/);
  });

  it('shows the classification of a tool name', async () => {
    expect(await run('tool', 'mcp__mail__sendEmail')).toContain(
      'acts; verb send, noun message; tags external_comm',
    );
  });
});
