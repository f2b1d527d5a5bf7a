// What Unity documents of its editor, as far as the package uses it. docs.unity3d.com/ScriptReference is the source: names, parameters and results are
// those of its pages, in the classes that it has them in. The bodies are ours: they keep a project as objects, and write it as JSON. What Unity or Xcode
// makes of a project, they cannot show.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace UnityEditor
{
    public enum BuildTarget
    {
        iOS,
        Android,
    }

    public static class PlayerSettings
    {
        /// <summary>"The application identifier for the currently selected build target."</summary>
        public static string applicationIdentifier = "com.example.arcade";
        /// <summary>"Application bundle version shared between iOS and Android platforms."</summary>
        public static string bundleVersion = "1.2";

        public static class iOS
        {
            public static string appleDeveloperTeamID = "TEAM123456";
            /// <summary>"The build number of the bundle."</summary>
            public static string buildNumber = "34";
            /// <summary>"Deployment minimal version of iOS."</summary>
            public static string targetOSVersionString = "16.1";
        }
    }
}

namespace UnityEditor.Build
{
    public class BuildFailedException : Exception
    {
        public BuildFailedException(string message) : base(message) { }
    }

    public interface IOrderedCallback
    {
        int callbackOrder { get; }
    }

    public interface IPostprocessBuildWithReport : IOrderedCallback
    {
        void OnPostprocessBuild(UnityEditor.Build.Reporting.BuildReport report);
    }
}

namespace UnityEditor.Build.Reporting
{
    public class BuildReport
    {
        public BuildSummary summary { get; internal set; }
        public BuildReport(BuildTarget platform, string outputPath) { summary = new BuildSummary { platform = platform, outputPath = outputPath }; }
    }

    public struct BuildSummary
    {
        public BuildTarget platform { get; internal set; }
        public string outputPath { get; internal set; }
    }
}

namespace UnityEditor.iOS.Xcode
{
    public enum PBXSourceTree
    {
        Absolute,
        Source,
        Build,
        Developer,
        Sdk,
    }

    /// <summary>Keeps a project as objects with members, and writes them as lines.</summary>
    public class PBXProject
    {
        private const string Main = "Unity-iPhone", Framework = "UnityFramework";
        private List<string> lines = new List<string>();

        /// <summary>"Returns PBX project path in the given Unity build path."</summary>
        public static string GetPBXProjectPath(string buildPath) { return Path.Combine(buildPath, "Unity-iPhone.xcodeproj/project.pbxproj"); }

        public void ReadFromFile(string path) { lines = File.ReadAllLines(path).ToList(); }
        public void WriteToFile(string path) { File.WriteAllText(path, string.Join("\n", lines) + "\n"); }

        public string GetUnityMainTargetGuid() { return Main; }
        public string GetUnityFrameworkTargetGuid() { return Framework; }

        private string Add(params string[] words)
        {
            lines.Add(string.Join("\t", words));
            return words[1];
        }

        private IEnumerable<string[]> Find(string kind) { return lines.Select(line => line.Split('\t')).Where(words => words[0] == kind); }

        private void CheckTarget(string guid)
        {
            if (guid != Main && guid != Framework && Find("target").All(words => words[1] != guid)) throw new ArgumentException("no such target: " + guid);
        }

        /// <summary>"Returns the GUID of the native target with the given name." What it does if there is none, no page says.</summary>
        public string TargetGuidByName(string name) { return Find("target").Single(words => words[2] == name)[1]; }

        /// <summary>"Creates a new native target."</summary>
        public string AddTarget(string name, string ext, string type) { return Add("target", "target:" + name, name, ext, type); }

        /// <summary>"Returns the GUID of the product file reference of the given target."</summary>
        public string GetTargetProductFileRef(string targetGuid)
        {
            var target = Find("target").Single(words => words[1] == targetGuid);
            return "product:" + target[2] + target[3];
        }

        public void AddTargetDependency(string targetGuid, string targetDependencyGuid)
        {
            CheckTarget(targetGuid);
            CheckTarget(targetDependencyGuid);
            Add("dependency", targetGuid, targetDependencyGuid);
        }

        /// <summary>"Adds a new file reference to the list of known files."</summary>
        public string AddFile(string path, string projectPath, PBXSourceTree sourceTree = PBXSourceTree.Source)
        {
            if (Find("file").Any(words => words[1] == "file:" + projectPath)) throw new ArgumentException("this file is in the project: " + projectPath);
            return Add("file", "file:" + projectPath, path, sourceTree.ToString());
        }

        /// <summary>"Checks if the project contains a file with the given project path."</summary>
        public bool ContainsFileByProjectPath(string path) { return Find("file").Any(words => words[1] == "file:" + path); }

        public string AddSourcesBuildPhase(string targetGuid)
        {
            CheckTarget(targetGuid);
            return Add("sources", "sources:" + targetGuid, targetGuid);
        }

        public string AddFrameworksBuildPhase(string targetGuid)
        {
            CheckTarget(targetGuid);
            return Add("frameworks", "frameworks:" + targetGuid, targetGuid);
        }

        /// <summary>"If a copy files build phase with the same name, dstPath, and subfolderSpec is already configured for the target, the function returns the
        /// existing phase."</summary>
        public string AddCopyFilesBuildPhase(string targetGuid, string name, string dstPath, string subfolderSpec)
        {
            CheckTarget(targetGuid);
            return Add("copy", "copy:" + targetGuid + ":" + name, targetGuid, dstPath, subfolderSpec);
        }

        public void AddFileToBuildSection(string targetGuid, string sectionGuid, string fileGuid)
        {
            CheckTarget(targetGuid);
            if (!lines.Any(line => line.Split('\t').Take(3).Skip(1).SequenceEqual(new[] { sectionGuid, targetGuid })))
            {
                throw new ArgumentException("the target has no such section: " + sectionGuid);
            }
            Add("build", sectionGuid, fileGuid);
        }

        /// <summary>"Sets a build property to the given value in all build configurations for the specified target(s)."</summary>
        public void SetBuildProperty(string targetGuid, string name, string value)
        {
            CheckTarget(targetGuid);
            lines.RemoveAll(line => line.StartsWith("setting\t" + targetGuid + "\t" + name + "\t"));
            Add("setting", targetGuid, name, value);
        }

        /// <summary>"Returns the relative path to the entitlement file for the specified build target."</summary>
        public string GetEntitlementFilePathForTarget(string targetGuid)
        {
            return Find("setting").Where(words => words[1] == targetGuid && words[2] == "CODE_SIGN_ENTITLEMENTS").Select(words => words[3]).FirstOrDefault();
        }

        /// <summary>"Adds a reference to the remote package at the given version and allows updates up to the next major version."</summary>
        public string AddRemotePackageReferenceAtVersionUpToNextMajor(string url, string version) { return Add("package", "package:" + url, version); }

        /// <summary>"Adds a remote package framework dependency for the specified target."</summary>
        public void AddRemotePackageFrameworkToProject(string targetGuid, string name, string packageGuid, bool weak)
        {
            CheckTarget(targetGuid);
            if (Find("package").All(words => words[1] != packageGuid)) throw new ArgumentException("no such package: " + packageGuid);
            Add("product", targetGuid, name, packageGuid, weak.ToString());
        }
    }
}
