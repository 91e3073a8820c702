import { expect, it } from 'vitest';
import { currentEngineVersion } from '../src/engine-version.ts';
import { allRules } from '../src/rule-catalogue.ts';
import { playExample, type RuleExample } from '../src/rule-example.ts';
import { score } from '../src/score.ts';

const HONEST = ['search_emails', 'create_calendar_event'];

const SESSIONS: RuleExample[] = [
  {
    name: 'a compromised mail assistant',
    steps: [
      'get_current_date',
      'search_emails',
      'send_email',
      'delete_file',
      'search_emails',
      'create_calendar_event',
    ],
    history: [HONEST, ['search_emails'], HONEST],
  },
  {
    name: 'a benign mail assistant',
    steps: ['get_current_date', 'search_emails', 'create_calendar_event'],
    history: [HONEST, ['search_emails'], HONEST],
  },
  {
    name: 'a long session',
    steps: [{ tool: 'read_file', times: 400 }, { tool: 'write_file', times: 100 }, 'run_shell'],
  },
];

// Whoever changes a score changes this file, and raises currentEngineVersion: scores of one version must compare.
it('scores as the engine version says', async () => {
  const ofRules = allRules.flatMap((rule) =>
    rule.fires.map((one) => ({ ...one, name: `${rule.id}, ${one.name}` })),
  );
  const scores = [...SESSIONS, ...ofRules].map((example) => {
    const { state, baseline } = playExample(example, score);
    const risk = score(state, example.history === undefined ? {} : { baseline });
    const dimensions = risk.dimensions
      .filter((dimension) => dimension.score > 0)
      .map((dimension) => `${dimension.id} ${dimension.score} ${dimension.level}`);
    const factors = risk.factors.map(({ ruleId, delta }) => `${ruleId} ${delta}`);
    return [`${example.name}: ${risk.score} ${risk.level}`, ...dimensions, ...factors].join('\n  ');
  });
  await expect(`engine ${currentEngineVersion}\n${scores.join('\n')}\n`).toMatchFileSnapshot(
    'golden/scores.txt',
  );
});
