import { styleText } from 'node:util';

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
