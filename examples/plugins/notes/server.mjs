// The server of this plugin package: it is started in the folder of the package.
import '../../notes-server.mjs'
