import { styleText } from 'node:util';
import { wholeScore } from '@actlog/protocol';

/** A text style, such as `bold` or `red`. */
export type Style = Parameters<typeof styleText>[0];

/**
 * Returns the text with a style, or unchanged where the stream has no colors. NO_COLOR and FORCE_COLOR are respected.
 *
 * @param stream - stream that the text is written to; standard output by default
 */
export function styled(
  style: Style | undefined,
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return style === undefined ? text : styleText(style, text, { stream });
}

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
