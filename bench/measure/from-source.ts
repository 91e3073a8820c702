/** Flags of Node for a process that runs the packages from their sources. */
export const fromSource: readonly string[] = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
];
