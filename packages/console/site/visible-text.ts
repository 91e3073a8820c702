/**
 * A text with the characters written out, such as `\u202e`, that turn the order of what follows, hide in it or break
 * its lines, so that a person would decide about something else than what they read. JSON stays the same JSON.
 */
export function visibleText(text: string): string {
  return text.replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\x7f-\x9f]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
