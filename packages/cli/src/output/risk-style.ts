import { wholeScore } from '@actlog/protocol';
import type { Style } from './style.ts';

const styles: Readonly<Record<string, Style>> = {
  low: 'green',
  medium: 'yellow',
  high: 'red',
  critical: ['bold', 'red'],
};

/** Returns the style of a risk level. */
export function riskStyle(level: string | undefined): Style | undefined {
  return level === undefined ? undefined : styles[level];
}

/** Returns the text of a score with its level, such as `72 high`. */
export function riskText(
  risk: { readonly score?: number | undefined; readonly level?: string | undefined } | null | undefined,
): string {
  if (risk?.score === undefined) return '';
  return [wholeScore(risk.score), risk.level].filter((part) => part !== undefined).join(' ');
}
