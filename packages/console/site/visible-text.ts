/**
 * A text with its format characters written out, such as `\u202e`: they turn the order of what follows, or hide in it,
 * so that a person would decide about something else than what they read. JSON stays the same JSON.
 */
export function visibleText(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
