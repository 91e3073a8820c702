function list(words: string): readonly string[] {
  return words.trim().split(/\s+/);
}

/**
 * Last words of argument names, by what they say about an action. The risk engine and conditions of policies classify
 * arguments by the same words, so that both know the same targets.
 *
 * - `content`: how an action is worded: the body of a message, the text of a document, a command, code, a query.
 * - `place`: where the agent works: a path or a file on its machine, or a position within one.
 * - `shell`: a command or code that is run.
 *
 * Any other argument may determine what an action is aimed at.
 */
export const argumentWords: Readonly<Record<'content' | 'place' | 'shell', readonly string[]>> = {
  content: list(`
    abstract answer body caption cmd code command commands comment comments content contents description detail details
    diff document draft edits expression html input instructions markdown memo message note notes paragraph patch pattern
    payload prompt query reason regex remark reply script snippet source sql statement str string subject summary
    template text thought title transcript`),
  place: list(`
    cwd dir directory file filename files folder glob line lines limit location notebook offset path paths workdir`),
  shell: list('argv cmd code command commands input script'),
};
