// Prints how many ms the import of a module takes in a process that has imported nothing yet. Argument: the module.
const began = performance.now()
await import(process.argv[2])
console.log(performance.now() - began)
