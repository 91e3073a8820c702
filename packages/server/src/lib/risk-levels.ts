import type { RiskLevel } from '@actlog/protocol';
import { riskLevel } from '@actlog/protocol/schemas';

/** Levels of risk, from the lowest. */
export const riskLevels: readonly RiskLevel[] = riskLevel.options;

/** `true` if a level is as high as another one, or higher. */
export function isAtLeast(level: RiskLevel, lowest: RiskLevel): boolean {
  return riskLevels.indexOf(level) >= riskLevels.indexOf(lowest);
}
