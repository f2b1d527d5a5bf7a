// Runs the package's editor script on an exported project: a folder with Info.plist and Unity-iPhone.xcodeproj, as Unity makes it.
using System;
using UnityEditor;
using UnityEditor.Build;
using UnityEditor.Build.Reporting;

static class ExportTests
{
    static int Main(string[] arguments)
    {
        Packs.Editor.PackExport.Folder = arguments[1];
        if (arguments.Length > 3) PlayerSettings.iOS.targetOSVersionString = arguments[3];
        IPostprocessBuildWithReport script = new Packs.Editor.PackExport();
        try
        {
            script.OnPostprocessBuild(new BuildReport((BuildTarget)Enum.Parse(typeof(BuildTarget), arguments[2]), arguments[0]));
            return 0;
        }
        catch (BuildFailedException exception)
        {
            Console.WriteLine(exception.Message);
            return 1;
        }
    }
}
