import { describe, expect, it } from 'vitest';
import { evidenceLimits, levelOf, levels, rounded, scoreOf } from './levels.ts';
import { allRules } from './rule-catalogue.ts';
import { type ExampleStep, exampleEvents, playExample } from './rule-example.ts';
import { score } from './score.ts';
import { observe } from './session/observe.ts';
import { emptySession } from './session/session-state.ts';

function play(steps: readonly ExampleStep[]) {
  const state = emptySession();
  for (const { event, stamp } of exampleEvents(steps)) observe(state, event, { stamp });
  return score(state);
}

describe('score', () => {
  it('is 0 without observable dimensions for an empty session', () => {
    const risk = play([]);
    expect(risk).toMatchObject({ score: 0, level: 'low', eventCount: 0, factors: [], recommendations: [] });
    expect(risk.dimensions.map((dimension) => dimension.id)).toHaveLength(10);
    expect(risk.dimensions.some((dimension) => dimension.observable)).toBe(false);
  });

  it('marks dimensions that the records cannot show as not observable', () => {
    const risk = play(['read_file', 'write_file']);
    const seen = risk.dimensions.filter((dimension) => dimension.observable).map((dimension) => dimension.id);
    expect(seen).toEqual(['ASI01', 'ASI02', 'ASI03', 'ASI05', 'ASI08']);
  });

  it('sets the delta of a factor to the score that is lost without it', () => {
    const risk = play(['get_webpage', 'search_emails', 'send_email', 'delete_file', 'get_webpage']);
    expect(risk.factors).toHaveLength(5);
    for (const factor of risk.factors) {
      expect(factor.delta).toBeGreaterThan(0);
      expect(factor.delta).toBeLessThan(risk.score);
      expect(factor.evidence.eventIds.length).toBeLessThanOrEqual(5);
    }
    expect(risk.factors.map((factor) => factor.delta)).toEqual(
      risk.factors.map((factor) => factor.delta).toSorted((a, b) => b - a),
    );
  });

  it('reaches critical by one signal only if it is deterministic', () => {
    const revoked = play([{ tool: 'get_time', stamps: ['agent_revoked'] }]);
    expect(revoked.dimensions[9]?.factors).toHaveLength(1);
    const lookalike = play([{ tool: 'get_time', stamps: ['tool_lookalike'] }]);
    expect(lookalike.level).not.toBe('critical');
  });

  it('ignores stamps on events that the service writes', () => {
    const steps: ExampleStep[] = [
      {
        tool: 'pay',
        category: 'guardian_decision',
        payload: { decision: 'denied' },
        stamps: ['agent_revoked'],
      },
    ];
    expect(play(steps).score).toBe(0);
    expect(play([...steps, { tool: 'get_time', stamps: ['agent_revoked'] }]).level).toBe('critical');
  });

  it('cites only approvals that were too fast', () => {
    const approved = (heldMs: number): ExampleStep => ({
      tool: 'pay',
      category: 'guardian_decision',
      payload: { decision: 'approved', heldMs },
    });
    const steps = [60_000, 900, 60_000, 900, 2000].map(approved);
    const factor = play(steps).factors.find(({ ruleId }) => ruleId === 'trust.fast-approvals');
    const ids = exampleEvents(steps).map(({ event }) => event.eventId);
    expect(factor?.evidence).toEqual({ eventIds: [ids[1], ids[4]], count: 3 });
  });

  it('names the tools that were called more often than usual', () => {
    const history = [['send_email']];
    const explained = (...steps: ExampleStep[]) => {
      const { state, baseline } = playExample({ name: '', steps: ['send_email', ...steps], history }, score);
      const factors = score(state, { baseline }).dimensions.flatMap((dimension) => dimension.factors);
      return factors.find(({ ruleId }) => ruleId === 'misuse.more-than-usual')?.explanation;
    };
    expect(explained('send_email')).toMatch(/, with "send_email"\.$/);
    expect(explained('delete_file')).toMatch(/, with "delete_file"\.$/);
    expect(explained('send_email', 'delete_file')).toMatch(/, with "(send_email|delete_file)" and "\w+"\.$/);
    expect(explained('send_email', 'delete_file', 'run_shell')).toMatch(/, with "\w+" and 2 other tools\.$/);
  });

  it('never contains tool arguments', () => {
    const risk = play([{ tool: 'get_secret', given: 'cafebabe', times: 9 }, 'send_email']);
    expect(JSON.stringify(risk)).not.toContain('cafebabe');
  });

  it('counts the same evidence once', () => {
    const risk = play(['read_inbox', 'grant_role']);
    const both = risk.dimensions.flatMap((dimension) => dimension.factors);
    const ids = both.map((factor) => factor.ruleId);
    expect(ids).toContain('privilege.secret-after-untrusted');
    expect(ids).toContain('misuse.irreversible-after-untrusted');
    expect(both.find((factor) => factor.ruleId === 'misuse.irreversible-after-untrusted')?.delta).toBe(0);
  });
});

describe('the level', () => {
  it('is critical for one deterministic rule', () => {
    expect(play([{ tool: 'read_file', stamps: ['agent_revoked'] }]).level).toBe('critical');
    expect(play([{ tool: 'read_file', stamps: ['agent_elsewhere'] }]).level).toBe('low');
  });

  it('is critical for every deterministic rule alone', () => {
    const proofs = allRules.filter(({ deterministic }) => deterministic);
    expect(proofs.length).toBeGreaterThan(0);
    for (const { id, weight } of proofs)
      expect(-Math.log(1 - weight), id).toBeGreaterThanOrEqual(evidenceLimits.critical);
  });

  it('is critical for a deterministic rule beside origins', () => {
    const origins = { path: { from: 'user' } } as const;
    const { level } = play([{ tool: 'read_file', stamps: ['agent_revoked'], origins }]);
    expect(level).toBe('critical');
  });

  it('begins at 40, 70 and 90, and grows with the evidence', () => {
    expect(levels).toEqual({ medium: 40, high: 70, critical: 90 });
    let before = -1;
    for (let evidence = 0; evidence < 12; evidence += 0.01) {
      const score = scoreOf(evidence, true);
      expect(score).toBeGreaterThan(before);
      expect(score).toBeLessThan(100);
      before = score;
    }
    for (const level of ['medium', 'high', 'critical'] as const) {
      expect(scoreOf(evidenceLimits[level], true)).toBeCloseTo(levels[level]);
      expect(levelOf(rounded(levels[level]))).toBe(level);
      expect(levelOf(rounded(levels[level] - 1e-3))).not.toBe(level);
    }
    expect(levelOf(scoreOf(12, false))).toBe('high');
  });
});
