/** Node flags for a process that runs the packages from source. */
export const fromSource: readonly string[] = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
];
