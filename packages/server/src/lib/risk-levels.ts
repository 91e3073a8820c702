import type { RiskLevel } from '@actlog/protocol';

/** Levels of risk, from the lowest. */
export const riskLevels = ['low', 'medium', 'high', 'critical'] as const satisfies readonly RiskLevel[];

/** `true` if a level is as high as another one, or higher. */
export function isAtLeast(level: RiskLevel, lowest: RiskLevel): boolean {
  return riskLevels.indexOf(level) >= riskLevels.indexOf(lowest);
}
