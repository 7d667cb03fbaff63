/** Required first: where the addon of the build is loaded, that of TFJS_EMBEDDINGS_ATTACKED comes in its place. */
const { dlopen } = process;
process.dlopen = (module, file, ...rest) => {
  const isAddon = /[\\/]tfjs_embeddings\.node$/.test(file);
  return dlopen(module, isAddon ? process.env.TFJS_EMBEDDINGS_ATTACKED : file, ...rest);
};
