import type { RiskJudgment, RiskJudgmentEffect } from '@actlog/protocol';
import { countText } from './count-text.ts';

/** Returns the scope of a judgment as words. */
export function scopeText({ scope: { ruleId, toolName, agentId, sessionId } }: RiskJudgment): string {
  const parts = [
    ruleId ?? (sessionId === null && 'any reason'),
    toolName !== null && `tool ${toolName}`,
    agentId !== null && `agent ${agentId}`,
    sessionId !== null && `session ${sessionId}`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Returns how a judgment changes past sessions as sentences. */
export function effectText({ examined, isComplete, lowered, raised, levels }: RiskJudgmentEffect): string {
  const changes = [
    lowered > 0 && `${countText(lowered)} ${lowered === 1 ? 'scores' : 'score'} lower`,
    raised > 0 && `${countText(raised)} ${raised === 1 ? 'scores' : 'score'} higher`,
  ].filter(Boolean);
  const moves = levels.map(({ from, to, sessions }) => `${countText(sessions)} from ${from} to ${to}`);
  return [
    `Of ${countText(examined)} past ${examined === 1 ? 'session' : 'sessions'} within reach, ${changes.join(' and ') || 'none changes'}.`,
    moves.length > 0 && `Levels: ${moves.join(', ')}.`,
    !isComplete && 'Older sessions keep their scores.',
  ]
    .filter(Boolean)
    .join(' ');
}
